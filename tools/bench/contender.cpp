// SPDX-License-Identifier: Apache-2.0
#include "bench/contender.hpp"

#include "bench/tnad.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/ranges.h>
#include <unistd.h>

namespace tna::bench {

namespace {

/// "tna@FILE" is the daemon in that file.
constexpr std::string_view otherDaemon = "tna@";

class Linux : public Contender {
public:
    Result<void> start(Traffic&) override { return {}; }
    void stop() override {}
};

class LinuxWithBridgeNetfilter : public Contender {
public:
    Result<void> start(Traffic&) override { return setBridgeNetfilter(true); }
    void stop() override { [[maybe_unused]] const auto set = setBridgeNetfilter(false); }
    bool optional() const override { return true; }
};

class Ceiling : public Contender {
public:
    Result<void> start(Traffic& traffic) override {
        for (const auto& [program, device] :
             {std::pair{traffic.ceilingProgram(), "d0"}, std::pair{traffic.ceilingBackProgram(), "d1"}}) {
            auto link = attachXdp(program, device);
            if (!link)
                return std::unexpected(link.error());
            links_.push_back(std::move(*link));
        }
        return {};
    }
    void stop() override { links_.clear(); }
    bool forwards() const override { return false; }

private:
    std::vector<UniqueFd> links_;
};

/// No device under test: the sink takes its place.
class Direct : public Contender {
public:
    Result<void> start(Traffic& traffic) override {
        return traffic.putSink(traffic.topology().device(), "d0");
    }
    void stop() override {}
    bool forwards() const override { return false; }
};

/// The daemon itself; ended after each turn, so that nothing of it is there while others are measured.
class Tna : public Contender {
public:
    Tna(std::string file, std::string fdb) : file_(std::move(file)), fdb_(std::move(fdb)) {}
    Result<void> start(Traffic&) override {
        auto started = Tnad::start(file_, fdb_);
        if (!started)
            return std::unexpected(started.error());
        tnad_.emplace(std::move(*started));
        return tnad_->waitAccelerated(2);
    }
    void stop() override { tnad_.reset(); }
    Result<std::optional<std::uint64_t>> slowFrames() override {
        const auto port = tnad_->port("d0");
        if (!port)
            return std::unexpected(port.error());
        return (*port)["slow_packets"].get<std::uint64_t>();
    }

private:
    std::string file_;
    std::string fdb_;
    std::optional<Tnad> tnad_;
};

/// What is of no use between other devices.
bool ofBridges(const std::string& name) {
    return name == "linux+nf" || name == "tna-mirror";
}
} // namespace

std::string problemWithContender(const std::string& name, Scenario scenario) {
    static const std::vector<std::string> names{"linux",      "linux+nf", "tna",
                                                "tna-mirror", "ceiling",  "direct"};
    if (std::ranges::count(names, name) > 0)
        return scenario != Scenario::bridge && ofBridges(name)
                   ? fmt::format("'{}' bridges only: choose it with --scenario bridge", name)
                   : "";
    if (!name.starts_with(otherDaemon))
        return fmt::format("there is no contender '{}'; known: {}, {}FILE", name, fmt::join(names, ", "),
                           otherDaemon);
    const auto file = name.substr(otherDaemon.size());
    return ::access(file.c_str(), X_OK) == 0 ? ""
                                             : fmt::format("cannot run '{}': {}", file, errnoText(errno));
}

std::vector<std::string> usualContenders(Scenario scenario) {
    std::vector<std::string> usual{"linux", "linux+nf", "tna", "ceiling", "direct"};
    if (scenario != Scenario::bridge)
        std::erase_if(usual, ofBridges);
    return usual;
}

std::unique_ptr<Contender> makeContender(const std::string& name, const std::string& tnad) {
    if (name == "linux")
        return std::make_unique<Linux>();
    if (name == "linux+nf")
        return std::make_unique<LinuxWithBridgeNetfilter>();
    if (name == "tna")
        return std::make_unique<Tna>(tnad, "auto");
    if (name == "tna-mirror")
        return std::make_unique<Tna>(tnad, "mirror");
    if (name.starts_with(otherDaemon))
        return std::make_unique<Tna>(name.substr(otherDaemon.size()), "auto");
    if (name == "direct")
        return std::make_unique<Direct>();
    if (name == "ceiling")
        return std::make_unique<Ceiling>();
    return nullptr;
}

} // namespace tna::bench
