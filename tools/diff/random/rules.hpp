// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/chance.hpp"
#include "diff/random/topology.hpp"

#include <string>
#include <vector>

namespace tna::diff {

/// Rules in the words of nft(8) and iptables(8). What time would decide is drawn so that it decides nothing:
/// limits that are never reached, or from the first packet on.
class Rules {
public:
    /// `steady`: they treat all packets in the middle of a flow alike. `tracked`: they may ask for
    /// connections.
    Rules(Chance& chance, const Topology& topology, bool steady, bool tracked = true)
        : chance_(chance), topology_(topology), steady_(steady), tracked_(tracked) {}

    /// For a table of the family inet that has the sets of `sets()`, and the chains c1 and c2.
    [[nodiscard]] std::string rule(bool mayJump = true);
    [[nodiscard]] static std::vector<std::string> sets();
    /// Of such a set, as "blocked { 10.0.0.2 }".
    [[nodiscard]] std::string element();
    /// For chains before others: marks, what is not to be tracked, and zones. (Where connections of two zones
    /// are alike, it is by chance which ports they are translated to.)
    [[nodiscard]] std::string early(bool mayZone);
    /// A table that exempts some flows from connection tracking.
    [[nodiscard]] std::vector<std::string> exemptions();
    /// Has rules of iptables let those pass.
    static constexpr const char* acceptUntracked =
        "for i in iptables-nft ip6tables-nft; do ! command -v $i >/dev/null || "
        "$i -I FORWARD -m conntrack --ctstate UNTRACKED -j ACCEPT; done";
    /// The rest of a line for iptables-nft, behind "-A CHAIN".
    [[nodiscard]] std::string iptables(bool six);

private:
    [[nodiscard]] std::string anyRule(bool mayJump);
    [[nodiscard]] std::string anyEarly();
    [[nodiscard]] std::string narrow();
    [[nodiscard]] std::string wide();
    [[nodiscard]] std::string uneven();
    [[nodiscard]] std::string effect();
    [[nodiscard]] std::string verdict(bool mayJump);
    [[nodiscard]] std::string address();

    Chance& chance_;
    const Topology& topology_;
    bool steady_;
    bool tracked_;
};

} // namespace tna::diff
