// SPDX-License-Identifier: Apache-2.0
#include "daemon/trace_lines.hpp"

#include "daemon/packet_view.hpp"
#include "deploy/results/port_counters.hpp"
#include "model/mac.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <net/if.h>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/chrono.h>

namespace tna::daemon {

namespace {
using nlohmann::json;

/// What the ring holds is read so often: that bounds what a trace can cost.
constexpr auto interval = std::chrono::milliseconds(20);

std::chrono::nanoseconds clockOffset() {
    return std::chrono::system_clock::now().time_since_epoch() -
           std::chrono::steady_clock::now().time_since_epoch();
}

std::string timeText(std::chrono::nanoseconds at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    return fmt::format("{:%FT%T}.{:06}Z", fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                       (at - seconds).count() / 1000);
}

std::string nameOf(unsigned ifindex) {
    char name[IF_NAMESIZE] = "";
    return ::if_indextoname(ifindex, name) != nullptr ? name : fmt::format("#{}", ifindex);
}

std::string macText(std::uint64_t address) {
    model::MacAddress mac;
    for (std::size_t i = 0; i < mac.bytes.size(); i++)
        mac.bytes[i] = static_cast<std::uint8_t>(address >> (8 * i));
    return mac.text();
}

/// What becomes of a bridged frame's tag; null where it stays as it is.
json retagView(std::uint64_t retag) {
    const auto id = retag & 0xfffU;
    if ((retag & TNA_RETAG_PUSH) != 0)
        return {{"action", "push"}, {"id", id}};
    if ((retag & TNA_RETAG_POP) != 0)
        return {{"action", "pop"}};
    if ((retag & TNA_RETAG_WRITE) != 0)
        return {{"action", "write"}, {"id", id}};
    return {};
}

json decisionView(const tna_trace_record& decision) {
    const bool routed = decision.hook == TNA_HOOK_ROUTE;
    json view{{"by", deploy::hookName(decision.hook)}};
    if (decision.forward == 0) {
        view["action"] = "linux";
        view["reason"] = {{"code", deploy::reasonCode(decision.reason)},
                          {"text", deploy::reasonText(decision.reason)}};
        return view;
    }
    view["action"] = "forward";
    view["egress"] = nameOf(decision.egress);
    if (routed) {
        view["destination_mac"] = macText(decision.destination);
        view["source_mac"] = macText(decision.source);
    } else {
        view["tag"] = retagView(decision.retag);
    }
    return view;
}
} // namespace

TraceLines::TraceLines(deploy::Tracer tracer, std::shared_ptr<api::LineSink> lines,
                       std::function<void()> atEnd)
    : tracer_(std::move(tracer)), lines_(std::move(lines)), atEnd_(std::move(atEnd)),
      sinceEpoch_(clockOffset()), thread_([this] { run(); }) {}

TraceLines::~TraceLines() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    atEnd_();
}

void TraceLines::run() {
    for (std::unique_lock lock{mutex_}; !stopping_; wake_.wait_for(lock, interval)) {
        tracer_.take([this](const tna_trace_record& record) { onRecord(record); });
        // What nothing was decided about since the look before this one, nothing will be.
        for (auto it = waiting_.begin(); it != waiting_.end();) {
            const bool fresh = std::exchange(it->second.fresh, false);
            if (!fresh)
                tellUndecided(it->second.record);
            it = fresh ? std::next(it) : waiting_.erase(it);
        }
        if (waiting_.empty())
            kernelLost_ = tracer_.lost();
        tellLost();
    }
}

void TraceLines::onRecord(const tna_trace_record& record) {
    const auto before = waiting_.find(record.cpu);
    if (record.hook == TNA_HOOK_INGRESS) {
        if (before != waiting_.end())
            tellUndecided(before->second.record);
        waiting_.insert_or_assign(record.cpu, Waiting{record});
    } else if (before != waiting_.end() && before->second.record.number == record.number) {
        tell(before->second.record, &record);
        waiting_.erase(before);
    }
}

void TraceLines::tell(const tna_trace_record& packet, const tna_trace_record* decision) {
    const auto at = sinceEpoch_ + std::chrono::nanoseconds(packet.time);
    const auto length = std::min<std::size_t>(packet.head_length, TNA_TRACE_HEAD);
    put({{"event", "packet"},
         {"time", timeText(at)},
         {"time_ns", at.count()},
         {"port", nameOf(packet.ingress)},
         {"length", packet.length},
         {"packet", viewPacket({packet.head, length})},
         {"decision", decision != nullptr ? decisionView(*decision) : json{{"by", "module"}}}});
}

/// What was decided may also have been lost.
void TraceLines::tellUndecided(const tna_trace_record& packet) {
    if (tracer_.lost() == kernelLost_)
        tell(packet, nullptr);
    else
        noRoom_++;
}

void TraceLines::tellLost() {
    const auto lost = tracer_.lost() + noRoom_;
    if (lost == lost_)
        return;
    const json document{{"event", "lost"}, {"packets", lost - lost_}};
    if (lines_->put(document.dump()))
        lost_ = lost;
}

void TraceLines::put(const json& document) {
    if (!lines_->put(document.dump()))
        noRoom_++;
}

} // namespace tna::daemon
