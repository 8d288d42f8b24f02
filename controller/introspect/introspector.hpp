// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

namespace tna::introspect {

/// What one call of process() changed in the model.
struct Changes {
    bool any = false;               ///< something that can change a decision, besides counts
    bool counts = false;            ///< numbers of FDB entries, neighbours or routes
    bool resynced = false;          ///< everything was read again, because announcements were lost
    std::set<model::IfIndex> links; ///< links that came, went or are different
};

struct Stats {
    std::uint64_t events = 0;    ///< announcements read
    std::uint64_t resyncs = 0;   ///< times that everything was read again
    std::uint64_t overruns = 0;  ///< times that announcements were lost
    std::uint64_t malformed = 0; ///< messages that could not be decoded, and were left out
};

struct Options {
    /// Bytes of announcements that may wait; the kernel takes memory for what does wait only.
    std::size_t receiveBuffer = std::size_t{16} * 1024 * 1024;
};

/// Reads what Linux is configured to do in one network namespace, and follows it. Not thread safe.
class Introspector {
public:
    /// Of the calling thread's network namespace; it stays there when the thread moves on.
    [[nodiscard]] static Result<std::unique_ptr<Introspector>> open(const Options& options = {});
    ~Introspector();
    Introspector(const Introspector&) = delete;
    Introspector& operator=(const Introspector&) = delete;

    [[nodiscard]] const model::Network& network() const;

    /// Readable when process() has something to do.
    [[nodiscard]] int pollFd() const;

    /// Takes in all that was announced. Never blocks for something that has not happened yet.
    [[nodiscard]] Result<Changes> process();

    /// Reads everything again.
    [[nodiscard]] Result<void> resync();

    /// Reads again what Linux does not announce: net.bridge.* and the tables of iptables-legacy. To be called
    /// from time to time; process() then reports what is different.
    [[nodiscard]] Result<void> refreshSysctls();

    /// A link may be different without having been announced: process() reads it again.
    void suspect(model::IfIndex ifindex);

    /// Any of them may be: process() reads all but what is counted.
    void suspectAll();

    [[nodiscard]] Stats stats() const;

private:
    class Impl;
    explicit Introspector(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace tna::introspect
