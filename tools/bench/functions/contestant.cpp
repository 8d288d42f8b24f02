// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"

#include <chrono>
#include <cstring>

namespace tna::bench {

namespace {
using workload::Work;

std::string always(const FunctionsCase&) {
    return {};
}

std::string notLocal(const FunctionsCase& one) {
    return one.which == Class::local ? "it has no way to give frames back to Linux" : "";
}

std::string onlyMacswap(const FunctionsCase& one) {
    if (one.work != Work::macswap)
        return "it swaps addresses only";
    return notLocal(one);
}

/// nft takes about a minute for a million, and most of the machine's memory.
constexpr unsigned mostNftRules = 100000;

std::string whyNotLinux(const FunctionsCase& one) {
    return one.work == Work::firewall && one.size > mostNftRules
               ? fmt::format("nft takes too long for more than {} elements", mostNftRules)
               : "";
}

Started startLinux(const Contest& contest) {
    if (contest.one.which == Class::local)
        return startNobody(contest);
    return contest.one.work == Work::firewall ? startNftables(contest) : startPacketSocket(contest);
}

std::string onlyChain(const FunctionsCase& one) {
    return one.work == Work::chain ? "" : "it is about a chain, a part of which is in XDP";
}

std::string onlyReturned(const FunctionsCase& one) {
    if (auto why = onlyMacswap(one); !why.empty())
        return why;
    return one.which == Class::dropped ? "what testpmd drops, nobody can count from outside" : "";
}
} // namespace

const std::vector<ContestantKind>& contestantKinds() {
    static const std::vector<ContestantKind> all{
        {"linux",
         "returned and dropped: a program with a packet socket, and Linux looks at each frame as well; a "
         "firewall: a set of nftables at ingress; local: nobody",
         whyNotLinux, startLinux},
        {"poll", "tna-workload, which sleeps in poll() (the paper's AF_XDP poll)", always,
         [](const Contest& contest) { return startFunction(contest, false); }},
        {"busy", "tna-workload, which never sleeps (the paper's AF_XDP)", always,
         [](const Contest& contest) { return startFunction(contest, true); }},
        {"xdp", "in the kernel: no user space (the paper's XDP)", always,
         [](const Contest& contest) { return startXdp(contest, false); }},
        {"xdp-sk", "the same, while an AF_XDP socket is bound that gets nothing (the paper's XDP-sk)", always,
         [](const Contest& contest) { return startXdp(contest, true); }},
        {"hybrid",
         "a firewall in XDP, as a custom module, before a balancer in tna-workload, which sleeps in poll()",
         onlyChain, startHybrid},
        {"libxdp-poll", "by hand with libxdp, sleeps in poll()", onlyMacswap,
         [](const Contest& contest) { return startByHand(contest, "poll"); }},
        {"libxdp-busy", "by hand with libxdp, never sleeps", onlyMacswap,
         [](const Contest& contest) { return startByHand(contest, "busy"); }},
        {"libxdp-sysc",
         "by hand with libxdp, has the driver work by system calls (SO_PREFER_BUSY_POLL; the paper's AF_XDP "
         "sysc)",
         onlyMacswap, [](const Contest& contest) { return startByHand(contest, "sysc"); }},
        {"dpdk", "dpdk-testpmd by AF_XDP, which never sleeps", onlyReturned, startTestpmd}};
    return all;
}

const std::vector<LeftOut>& leftOut() {
    static const std::vector<LeftOut> all{
        {"sysc with tna-workload", "it needs CAP_NET_ADMIN, which functions do not have"},
        {"XDP-sk sysc", "what busy polling by system calls costs is asked of libxdp-sysc"},
        {"zero-copy", "a veth copies frames for user space: no driver of a card is measured"},
        {"memcached behind a function", "local frames are dropped as early as Linux can"},
        {"accesses of the last cache", "no performance counters are read"}};
    return all;
}

double monotonicNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<Counted> countedIn(const std::string& file, std::size_t place) {
    const auto text = readFile(file);
    Counted found{0, monotonicNow()};
    if (!text || text->size() < (place + 1) * sizeof(found.frames))
        return fail("the counters in {} are gone", file);
    std::memcpy(&found.frames, text->data() + place * sizeof(found.frames), sizeof(found.frames));
    return found;
}

} // namespace tna::bench
