// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/tracker.hpp"
#include "netlink/socket.hpp"

#include <optional>
#include <vector>

namespace tna::introspect {

/// Keeps what netfilter and xfrm may do with packets: base chains, the number of rules and policies.
/// Each of the two protocols may be missing in the kernel; then there is nothing of it.
class Filtering {
public:
    explicit Filtering(Tracker& tracker) : tracker_(tracker) {}

    /// In the calling thread's network namespace, for good.
    [[nodiscard]] Result<void> open(std::size_t receiveBuffer);
    /// To be watched for readability.
    [[nodiscard]] std::vector<int> fds() const;

    /// Drains the announcements and reads again what they hint at; returns their number.
    [[nodiscard]] Result<std::uint64_t> process();
    /// Whether announcements were left to the next call.
    [[nodiscard]] bool behind() const { return behind_; }
    [[nodiscard]] Result<void> readAll();
    /// Hooks name devices, and nobody announces that one of them has another name.
    void suspectTables() { suspected_ = true; }

private:
    [[nodiscard]] Result<void> readTables();
    [[nodiscard]] Result<void> readPolicies();

    Tracker& tracker_;
    std::optional<netlink::Socket> tableRequests_;
    std::optional<netlink::Socket> tableEvents_;
    std::optional<netlink::Socket> policyRequests_;
    std::optional<netlink::Socket> policyEvents_;
    bool behind_ = false;
    bool suspected_ = false; ///< the tables, to be different without an announcement
};

} // namespace tna::introspect
