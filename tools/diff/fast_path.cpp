// SPDX-License-Identifier: Apache-2.0
#include "diff/fast_path.hpp"

#include "deploy/programs/libbpf_log.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace tna::diff {

Figures& Figures::operator+=(const Figures& other) {
    fast += other.fast;
    slow += other.slow;
    bytes += other.bytes;
    for (const auto& [reason, count] : other.reasons)
        reasons[reason] += count;
    return *this;
}

Figures Figures::operator-(const Figures& other) const {
    const auto less = [](std::uint64_t from, std::uint64_t what) { return from > what ? from - what : 0; };
    Figures rest{less(fast, other.fast), less(slow, other.slow), less(bytes, other.bytes), {}};
    for (const auto& [reason, count] : reasons) {
        const auto found = other.reasons.find(reason);
        if (const auto left = less(count, found == other.reasons.end() ? 0 : found->second); left > 0)
            rest.reasons[reason] = left;
    }
    return rest;
}

FastPath::FastPath(const World& world, unsigned flowsPerCpu, unsigned connections, std::string fdb,
                   bool atTcx)
    : world_(&world) {
    config_.ports.excludeKinds.clear();
    config_.ports.tcxKinds.clear();
    if (atTcx)
        config_.ports.tcxKinds = {"veth"};
    // Raw sockets leave nothing unfinished.
    config_.ports.finishedFrames = {"*"};
    config_.limits.flowsPerCpu = flowsPerCpu;
    config_.limits.connections = connections;
    config_.kernel.fdb = std::move(fdb);
}

Result<void> FastPath::start() {
    if (running())
        return {};
    deploy::captureLibbpfMessages(); // the kernel refuses one of two probes
    const auto inside = enter();
    if (!inside)
        return std::unexpected(inside.error());
    auto controller = daemon::Controller::start(config_);
    if (!controller)
        return std::unexpected(controller.error());
    controller_ = std::move(*controller);
    watched_ = controller_->capabilities()["guards"][0]["mode"] == "watched";
    if (auto done = controller_->onNetlink(); !done)
        return done;
    while (!controller_->settled())
        controller_->settle();
    return knowRules();
}

Result<void> FastPath::knowRules() {
    constexpr auto patience =
        std::chrono::milliseconds(500); // those that cannot be read are not known at all
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (config_.limits.connections > 0 && std::chrono::steady_clock::now() < deadline) {
        const auto known = controller_->rules();
        const auto& learning = known["learning"];
        if (learning["active"] != true || learning["generation"] == known["generation"])
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        controller_->onTick();
        if (auto done = controller_->onNetlink(); !done)
            return done;
    }
    return {};
}

Result<void> FastPath::stop() {
    const auto inside = enter();
    if (!inside)
        return std::unexpected(inside.error());
    if (running())
        gone_ += current();
    controller_.reset();
    return {};
}

Result<void> FastPath::follow() {
    if (!running())
        return {};
    const auto inside = enter();
    if (!inside)
        return std::unexpected(inside.error());
    const auto before = current();
    controller_->onTick();
    auto done = controller_->onNetlink();
    if (done)
        done = knowRules();
    // Ports that are no longer looked after take their counters with them.
    gone_ += before - current();
    return done;
}

Result<void> FastPath::followWhereWatched() {
    return watched_ ? follow() : Result<void>{};
}

Result<Figures> FastPath::figures() const {
    const auto inside = enter();
    if (!inside)
        return std::unexpected(inside.error());
    auto sum = gone_;
    if (running())
        sum += current();
    return sum;
}

Figures FastPath::current() const {
    Figures sum;
    const auto status = controller_->status();
    for (const auto& port : status["ports"]) {
        sum.fast += port["fast_packets"].get<std::uint64_t>();
        sum.slow += port["slow_packets"].get<std::uint64_t>();
        sum.bytes += port["fast_bytes"].get<std::uint64_t>();
        if (const auto document = controller_->port(port["name"]))
            for (const auto& reason : (*document)["slow_path"])
                sum.reasons[reason["code"]] += reason["packets"].get<std::uint64_t>();
    }
    return sum;
}

} // namespace tna::diff
