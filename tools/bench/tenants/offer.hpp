// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "bench/testbed/own_namespace.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

struct drop;

namespace tna::bench {

/// g0 -- d0, in a namespace each, and the programs for both.
class DropPlace {
public:
    [[nodiscard]] static Result<std::unique_ptr<DropPlace>> make(unsigned times);
    DropPlace(const DropPlace&) = delete;
    DropPlace& operator=(const DropPlace&) = delete;
    ~DropPlace();

    [[nodiscard]] const NetNamespace& generator() const { return namespaces_[0].handle(); }
    [[nodiscard]] const NetNamespace& device() const { return namespaces_[1].handle(); }
    [[nodiscard]] int offerProgram() const;
    [[nodiscard]] int workProgram() const;
    [[nodiscard]] std::uint64_t offered() const { return counted(0); }
    [[nodiscard]] std::uint64_t dropped() const { return counted(1); }

private:
    DropPlace() = default;
    [[nodiscard]] Result<void> build();
    [[nodiscard]] std::uint64_t counted(unsigned which) const;
    std::vector<OwnNamespace> namespaces_;
    ::drop* programs_ = nullptr;
};

/// A frame of IPv4 whose header checksum is wrong.
[[nodiscard]] std::vector<unsigned char> wrongFrame(unsigned size);

/// Sends such frames from the last processor, as many as it can, for as long as this lives.
class Offer {
public:
    Offer(const DropPlace& place, unsigned size);
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;
    ~Offer() { [[maybe_unused]] const auto ended = stop(); }
    /// Whether all went well.
    [[nodiscard]] Result<void> stop();

private:
    [[nodiscard]] Result<void> send(const DropPlace& place) const;
    std::vector<unsigned char> frame_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> done_{false};
    Result<void> result_;
    std::thread thread_;
};

} // namespace tna::bench
