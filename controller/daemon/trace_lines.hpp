// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/line_sink.hpp"
#include "deploy/custom/tracer.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <thread>

namespace tna::daemon {

/// Writes what a tracer tells as lines, a packet each, until it is destroyed.
class TraceLines {
public:
    /// `atEnd` takes the tracer's module out of the path.
    TraceLines(deploy::Tracer tracer, std::shared_ptr<api::LineSink> lines, std::function<void()> atEnd);
    ~TraceLines();
    TraceLines(const TraceLines&) = delete;
    TraceLines& operator=(const TraceLines&) = delete;

private:
    void run();
    void onRecord(const tna_trace_record& record);
    /// What came in, and what was decided about it, if anything was.
    void tell(const tna_trace_record& packet, const tna_trace_record* decision);
    void tellUndecided(const tna_trace_record& packet);
    void tellLost();
    void put(const nlohmann::json& document);

    deploy::Tracer tracer_;
    std::shared_ptr<api::LineSink> lines_;
    std::function<void()> atEnd_;
    std::chrono::nanoseconds sinceEpoch_; ///< of the kernel's clock
    /// By CPU: what has come in and is not decided yet. `fresh` is what came since it was looked last.
    struct Waiting {
        tna_trace_record record;
        bool fresh = true;
    };
    std::map<unsigned, Waiting> waiting_;
    std::uint64_t kernelLost_ = 0; ///< records that the kernel had no room for, when nothing was waiting
    std::uint64_t noRoom_ = 0;     ///< lines that nobody read in time
    std::uint64_t lost_ = 0;       ///< as it was told
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace tna::daemon
