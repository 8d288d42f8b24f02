// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fragments.hpp"
#include "rewrite.hpp"
#include "sessions.hpp"

namespace tna::nat64 {

/// What addresses and ports become in the other version of IP. Results other than Reason::none leave
/// what is to be filled in undefined.
class Mapping {
public:
    virtual ~Mapping() = default;
    /// Whether packets to there are translated at all.
    [[nodiscard]] virtual bool isOurs(Address4 destination) const = 0;
    [[nodiscard]] virtual bool isOurs(const Address6& destination) const = 0;
    /// Whether what an IPv6 host has sent to there, which is that in IPv4, is for another IPv6 host.
    [[nodiscard]] virtual bool turnsRound(const Address6& destination, Address4 translated) const = 0;
    [[nodiscard]] virtual Reason from6(const Parsed& parsed, std::uint32_t now, Ends4& ends,
                                       NewPorts& ports) = 0;
    [[nodiscard]] virtual Reason from4(const Parsed& parsed, std::uint32_t now, Ends6& ends,
                                       NewPorts& ports) = 0;
    /// Of an ICMP error, and of the packet that it quotes.
    [[nodiscard]] virtual Reason errorFrom6(const Parsed& error, const Parsed& quoted, Ends4& ends,
                                            Ends4& quotedEnds, NewPorts& quotedPorts) = 0;
    [[nodiscard]] virtual Reason errorFrom4(const Parsed& error, const Parsed& quoted, Ends6& ends,
                                            Ends6& quotedEnds, NewPorts& quotedPorts) = 0;
    /// A packet's first fragment, of this host or to it, has been translated: those behind it may follow.
    virtual void remember(const Parsed& /*first*/, const Address6& /*host*/, Address4 /*address*/,
                          std::uint32_t /*now*/) {}
};

struct Addresses {
    Prefix prefix;
    bool allowPrivate = false;
};

/// An address of IPv4's side in IPv6, and back; Reason::none if that may be.
[[nodiscard]] Reason embedIn(const Addresses& addresses, Address4 address, Address6& result);
[[nodiscard]] Reason extractFrom(const Addresses& addresses, const Address6& address, Address4& result);

/// Each address has a counterpart, whatever packets there were (RFC 7915, 7757).
class Stateless : public Mapping {
public:
    /// `inside`: IPv4 addresses of IPv6 hosts that have them in theirs. `errorSource`: of ICMP errors from
    /// where no counterpart is (RFC 6791).
    Stateless(Addresses addresses, Maps maps, std::vector<Prefix4> inside,
              std::optional<Address4> errorSource)
        : addresses_(addresses), maps_(std::move(maps)), inside_(std::move(inside)),
          errorSource_(errorSource) {}

    [[nodiscard]] bool isOurs(Address4 destination) const override;
    [[nodiscard]] bool isOurs(const Address6& destination) const override;
    [[nodiscard]] bool turnsRound(const Address6& destination, Address4 translated) const override;
    [[nodiscard]] Reason from6(const Parsed& parsed, std::uint32_t now, Ends4& ends,
                               NewPorts& ports) override;
    [[nodiscard]] Reason from4(const Parsed& parsed, std::uint32_t now, Ends6& ends,
                               NewPorts& ports) override;
    [[nodiscard]] Reason errorFrom6(const Parsed& error, const Parsed& quoted, Ends4& ends, Ends4& quotedEnds,
                                    NewPorts& quotedPorts) override;
    [[nodiscard]] Reason errorFrom4(const Parsed& error, const Parsed& quoted, Ends6& ends, Ends6& quotedEnds,
                                    NewPorts& quotedPorts) override;

private:
    [[nodiscard]] bool isInside(Address4 address) const;
    [[nodiscard]] Reason hostTo4(const Address6& host, Address4& result) const;
    [[nodiscard]] Reason anyTo4(const Address6& address, Address4& result) const;
    [[nodiscard]] Reason anyTo6(Address4 address, Address6& result) const;
    [[nodiscard]] Reason remoteTo6(Address4 address, bool turned, Address6& result) const;

    Addresses addresses_;
    Maps maps_;
    std::vector<Prefix4> inside_;
    std::optional<Address4> errorSource_;
};

/// IPv6 hosts share a pool of addresses (RFC 6146).
class Stateful : public Mapping {
public:
    Stateful(Addresses addresses, const SessionSettings& settings, Pool pool, std::uint64_t seed)
        : addresses_(addresses), sessions_(settings, std::move(pool), seed), fragments_(seed) {}

    [[nodiscard]] bool isOurs(Address4 destination) const override;
    [[nodiscard]] bool isOurs(const Address6& destination) const override;
    [[nodiscard]] bool turnsRound(const Address6& destination, Address4 translated) const override;
    [[nodiscard]] Reason from6(const Parsed& parsed, std::uint32_t now, Ends4& ends,
                               NewPorts& ports) override;
    [[nodiscard]] Reason from4(const Parsed& parsed, std::uint32_t now, Ends6& ends,
                               NewPorts& ports) override;
    [[nodiscard]] Reason errorFrom6(const Parsed& error, const Parsed& quoted, Ends4& ends, Ends4& quotedEnds,
                                    NewPorts& quotedPorts) override;
    [[nodiscard]] Reason errorFrom4(const Parsed& error, const Parsed& quoted, Ends6& ends, Ends6& quotedEnds,
                                    NewPorts& quotedPorts) override;

    void remember(const Parsed& first, const Address6& host, Address4 address, std::uint32_t now) override {
        fragments_.remember(first, host, address, now);
    }

    [[nodiscard]] Sessions& sessions() { return sessions_; }

private:
    Addresses addresses_;
    Sessions sessions_;
    Fragments fragments_;
};

} // namespace tna::nat64
