// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counters.hpp"
#include "packet.hpp"
#include "services.hpp"
#include "sessions.hpp"

namespace tna::balancer {

/// Which backend a client stays with, and which client a backend answers: sessions, as packets begin and end
/// them.
class Affinity {
public:
    /// The services must outlive it. `configuration`: how many sessions, and for how long those are adopted
    /// that were known before a restart.
    Affinity(Services& services, const Configuration& configuration, std::uint64_t seed);
    /// The services are others now.
    void reconfigure(const Services::Renumbering& renumbering, const Configuration& configuration);

    /// A packet from a client to a service: the backend that it is for, and stays with from now on. None:
    /// `why`.
    [[nodiscard]] std::optional<std::uint16_t> ofClient(const Headers& headers, std::uint16_t service,
                                                        std::uint32_t now, Outcome& why);
    /// A packet from a backend, which is that of several services perhaps: whose session it belongs to.
    [[nodiscard]] std::optional<BackendNumber>
    ofReply(const Headers& headers, const std::vector<BackendNumber>& backends, std::uint32_t now);
    /// The session that a client has with one of these backends, which stays as it is.
    [[nodiscard]] std::optional<BackendNumber> find(const std::vector<BackendNumber>& backends,
                                                    const Endpoint& client, std::uint32_t now);
    /// The same with a service; null: there is none.
    [[nodiscard]] const Session* find(std::uint16_t service, const Endpoint& client, std::uint32_t now) {
        return live(service, client, now);
    }

    [[nodiscard]] const Sessions& sessions() const { return sessions_; }
    /// Sessions, to another backend.
    [[nodiscard]] std::uint64_t moved() const { return moved_; }
    /// Of each service's backends, sessions that are not forgotten.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> countByBackend(std::uint32_t now) const;

private:
    [[nodiscard]] Session* live(std::uint16_t service, const Endpoint& client, std::uint32_t now);
    [[nodiscard]] bool clashes(BackendNumber which, const Endpoint& client, std::uint32_t now);
    void follow(Session& session, const Headers& headers, bool known, std::uint32_t now);
    [[nodiscard]] std::optional<BackendNumber>
    adopt(const Headers& headers, const std::vector<BackendNumber>& backends, std::uint32_t now);

    Services& services_;
    unsigned adopting_; ///< seconds
    Sessions sessions_;
    std::uint64_t moved_ = 0;
};

} // namespace tna::balancer
