// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"
#include "tcp_state.hpp"

#include <array>

namespace tna::nat64 {

/// The other end, in IPv4; without a port in ICMP.
struct Remote {
    Address4 address = 0;
    std::uint16_t port = 0;
    bool operator==(const Remote&) const = default;
};

struct SessionSettings {
    std::size_t most = 65536; ///< sessions
    bool filterAddress =
        false; ///< from IPv4 only by whom has been sent to (RFC 6146, 3.5: address-dependent)
    std::array<std::uint32_t, patiences> seconds{60, 300, 240, 7440}; ///< by Patience, see RFC 6146, 4
};

/// Sessions, as many as there may be from the beginning, and the bindings that they hold. Times are seconds
/// that only grow.
class Sessions {
public:
    Sessions(const SessionSettings& settings, Pool pool, std::uint64_t seed);

    using Found = std::expected<const Binding*, Reason>;
    /// A packet of an IPv6 host; makes what it needs. `flags` are TCP's.
    [[nodiscard]] Found from6(Kind kind, const Address6& host, std::uint16_t port, const Remote& remote,
                              std::uint8_t flags, std::uint32_t now);
    /// A packet from IPv4.
    [[nodiscard]] Found from4(Kind kind, const Pool::Place& place, const Remote& remote, std::uint8_t flags,
                              std::uint32_t now);
    /// Of packets that are quoted in errors: there is a session, and it stays as it is.
    [[nodiscard]] const Binding* quoted6(Kind kind, const Address6& host, std::uint16_t port,
                                         const Remote& remote) const;
    [[nodiscard]] const Binding* quoted4(Kind kind, const Pool::Place& place, const Remote& remote) const;

    /// Removes what has been without packets for too long.
    void expire(std::uint32_t now);

    [[nodiscard]] const Pool& pool() const { return bindings_.pool(); }
    [[nodiscard]] std::size_t bindings() const { return bindings_.size(); }
    [[nodiscard]] std::size_t sessions() const { return sessions_.size() - freeSessions_.size(); }
    [[nodiscard]] std::size_t most() const { return sessions_.size(); }

private:
    struct Session {
        std::uint32_t binding = 0;
        Remote remote;
        std::uint32_t last = 0; ///< packet
        TcpState state = TcpState::begunBy6;
        Patience patience = Patience::udp;
    };
    [[nodiscard]] std::uint64_t hashOf(std::uint32_t binding, const Remote& remote) const;
    [[nodiscard]] std::uint64_t hashOf(std::uint32_t binding, Address4 remote) const;
    [[nodiscard]] std::uint32_t sessionOf(std::uint32_t binding, const Remote& remote) const;
    [[nodiscard]] bool hasSentTo(std::uint32_t binding, Address4 remote) const;
    void begin(std::uint32_t binding, const Remote& remote, Side by, std::uint32_t now);
    void end(std::uint32_t number);
    void live(std::uint32_t number, Side from, std::uint8_t flags, std::uint32_t now);

    SessionSettings settings_;
    std::uint64_t seed_;
    Bindings bindings_;
    std::vector<Session> sessions_;
    std::vector<std::uint32_t> freeSessions_;
    Chains byRemote_, byAddress_; ///< the last one without their ports
    Lists waiting_;               ///< sessions by Patience, the longest waiting first
};

} // namespace tna::nat64
