// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "address.hpp"
#include "age_lists.hpp"

#include <functional>
#include <vector>

namespace tna::balancer {

/// Of what a client has begun with a service.
struct Session {
    enum State : std::uint8_t {
        unused,
        begun,   ///< there was one packet, or several that begin it
        lasting, ///< and others
        closing, ///< one side has ended it
    };
    Endpoint client;
    std::uint16_t service = 0;
    std::uint16_t backend = 0; ///< of those of the service
    State state = unused;
    std::uint32_t seen = 0; ///< seconds, the last time

private:
    friend class Sessions;
    std::uint32_t chained = 0; ///< with the same hash
};

/// Sessions in memory that is taken at the beginning and never grows. Those that are over make room first.
/// Else, the one that was seen longest ago goes of those that have only begun, as soon as these have their
/// share: whoever begins many does not displace those that last, and these do not keep others from beginning.
class Sessions {
public:
    /// `seed`: nobody outside is to know which sessions have the same hash.
    Sessions(std::uint32_t most, std::uint64_t seed);

    /// Seconds without a packet after which sessions are over, by service. Without them, none is.
    void setIdleTimes(std::vector<std::uint32_t> idle) { idle_ = std::move(idle); }
    [[nodiscard]] bool isOver(const Session& session, std::uint32_t now) const;

    [[nodiscard]] Session* find(std::uint16_t service, const Endpoint& client);
    /// There is to be none.
    Session& add(std::uint16_t service, const Endpoint& client, std::uint16_t backend, std::uint32_t now);
    /// It is the newest of its kind now.
    void touch(Session& session, Session::State state, std::uint32_t now);
    void remove(Session& session);
    void forEach(const std::function<void(const Session&)>& each) const;
    /// Numbers of services and backends are others now; false: there is no such thing any more.
    void renumber(const std::function<bool(std::uint16_t& service, std::uint16_t& backend)>& change);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] std::uint32_t most() const { return static_cast<std::uint32_t>(all_.size()); }
    /// How many have made room before they were over.
    [[nodiscard]] std::uint64_t evicted() const { return evicted_; }

private:
    // Each session is in one of these lists.
    static constexpr std::uint32_t unused = 0, beginners = 1, lasting = 2, closing = 3, lists = 4;
    static constexpr std::uint32_t none = 0xffffffff; ///< instead of a session's number
    [[nodiscard]] static std::uint32_t listOf(Session::State state);
    void clean(std::uint32_t now);
    void removeIfOver(std::uint32_t number, std::uint32_t now);
    void evict();
    [[nodiscard]] std::uint32_t numberOf(const Session& session) const {
        return static_cast<std::uint32_t>(&session - all_.data());
    }
    [[nodiscard]] std::uint32_t& bucketOf(std::uint16_t service, const Endpoint& client);
    void chain(std::uint32_t number);
    void unchain(std::uint32_t number);

    std::vector<Session> all_;
    AgeLists lists_;
    std::vector<std::uint32_t> buckets_; ///< a power of two
    std::vector<std::uint32_t> idle_;
    std::uint64_t seed_;
    std::uint32_t size_ = 0;
    std::uint32_t beginning_ = 0; ///< how many have only begun
    std::uint32_t hand_ = 0;      ///< the next one that is looked at, whether it is over
    std::uint64_t evicted_ = 0;
};

} // namespace tna::balancer
