// SPDX-License-Identifier: Apache-2.0
#include "deploy/connections/learner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <limits>
#include <linux/netfilter.h>
#include <set>
#include <sys/syscall.h>
#include <tna/fastpath.h>
#include <unistd.h>

#include "learn.skel.h"
#include "learn_typed.skel.h"

namespace tna::deploy {

namespace {
constexpr const char* learning = "cannot learn from what netfilter lets pass (that needs Linux 6.4)";

// include/uapi/linux/bpf.h, since 6.4; older headers do not have them.
constexpr unsigned programType = 32; // BPF_PROG_TYPE_NETFILTER
constexpr unsigned attachType = 45;  // BPF_NETFILTER
struct LinkAttributes {
    std::uint32_t program = 0;
    std::uint32_t target = 0;
    std::uint32_t type = attachType;
    std::uint32_t flags = 0;
    std::uint32_t family = 0;
    std::uint32_t hook = 0;
    std::int32_t priority = 0;
    std::uint32_t netfilterFlags = 0;
    std::array<std::uint64_t, 4> unused{};
};

// Linux keeps the very first place and the very last one for itself.
constexpr int firstPlace = std::numeric_limits<int>::min() + 1;
/// Behind what puts fragments together (NF_IP_PRI_CONNTRACK_DEFRAG) and the rules of raw tables.
constexpr int inFrontOfTracking = -201; // NF_IP_PRI_CONNTRACK - 1
constexpr int lastPlace = std::numeric_limits<int>::max() - 1;

/// While nobody learnt, nobody noted what passed: the windows that were known are not those of now. What is
/// still true is which connections Linux was told not to mind the windows of.
void leaveStreams(int map) {
    std::set<std::uint64_t> entries; // changing one puts it elsewhere
    std::uint64_t entry = 0;
    for (int error = bpf_map_get_next_key(map, nullptr, &entry); error == 0 && entries.insert(entry).second;)
        error = bpf_map_get_next_key(map, &entry, &entry);
    for (const auto left : entries) {
        tna_stream stream{};
        if (bpf_map_lookup_elem(map, &left, &stream) != 0)
            continue;
        stream.anew = TNA_ANEW_LEFT;
        if (bpf_map_update_elem(map, &left, &stream, BPF_EXIST) != 0)
            bpf_map_delete_elem(map, &left);
    }
}

tna_rule_device asRulesKnow(const assemble::rules::RuleDevice& device) {
    tna_rule_device known{.name = {}, .ifindex = device.ifindex, .group = device.group};
    std::memcpy(known.name, device.name.data(), std::min(device.name.size(), sizeof known.name));
    return known;
}

tna_judged_way asFastPathKnows(const assemble::InvalidWay& way) {
    return {.from = asRulesKnow(way.from),
            .to = way.to ? asRulesKnow(*way.to) : tna_rule_device{},
            .becomes =
                (way.fate.becomes == assemble::Invalid::dropped ? TNA_INVALID_DROPPED : TNA_INVALID_PASSED) |
                (way.fate.early ? TNA_INVALID_SOME_EARLY : 0U),
            .unused = 0};
}

void publish(tna_judged_rules& rules, std::uint32_t generation, const assemble::FlowRules& judged) {
    __atomic_store_n(&rules.generation, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&rules.known, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&rules.serial, rules.serial + 1, __ATOMIC_SEQ_CST); // whoever reads meanwhile sees it
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rules.steady = (judged.tcp ? TNA_STEADY_TCP : 0U) | (judged.udp ? TNA_STEADY_UDP : 0U) |
                   (judged.invalid == assemble::Invalid::dropped ? TNA_INVALID_DROPPED : 0U) |
                   (judged.invalid == assemble::Invalid::passed ? TNA_INVALID_PASSED : 0U) |
                   (judged.invalidDroppedEarly ? TNA_INVALID_DROPPED_EARLY : 0U) |
                   (judged.invalidSomeEarly ? TNA_INVALID_SOME_EARLY : 0U) |
                   (judged.invalidDroppedForHost ? TNA_INVALID_DROPPED_FOR_HOST : 0U) |
                   (judged.asksConnectionMark ? TNA_CONNECTION_MARKS : 0U) |
                   (judged.tcpMarkedEarly ? TNA_MARKED_EARLY : 0U) |
                   (judged.finishesTcp ? TNA_FINISHES_TCP : 0U) |
                   (judged.finishesUdp ? TNA_FINISHES_UDP : 0U) | (judged.untracked ? TNA_UNTRACKED : 0U) |
                   (judged.exemptTcp ? TNA_EXEMPT_TCP : 0U) | (judged.exemptUdp ? TNA_EXEMPT_UDP : 0U);
    for (std::size_t place = 0; place < TNA_RULE_HOOKS; ++place) {
        rules.functions[place] = judged.functions.at(place).number;
        rules.lists[place] = judged.functions.at(place).list;
    }
    const auto ways = std::min<std::size_t>(judged.invalidWays.size(), TNA_JUDGED_WAYS_MAX);
    std::ranges::fill(rules.ways, tna_judged_way{});
    for (std::size_t place = 0; place < ways; ++place)
        rules.ways[place] = asFastPathKnows(judged.invalidWays[place]);
    rules.missed = 0;
    __atomic_store_n(&rules.known, generation, __ATOMIC_SEQ_CST);
    if (judged.tcp || judged.udp || judged.exemptTcp || judged.exemptUdp)
        __atomic_store_n(&rules.generation, generation, __ATOMIC_SEQ_CST);
}
} // namespace

Result<std::unique_ptr<ConnectionLearner>> Learner::attach(const PipelineObject& pipeline, Casts casts,
                                                           std::uint64_t net, std::uint64_t refresh) {
    return casts == Casts::untyped ? attachOf<::learn>(pipeline, net, refresh)
                                   : attachOf<::learn_typed>(pipeline, net, refresh);
}

template <typename Generated>
Result<std::unique_ptr<ConnectionLearner>> Learner::attachOf(const PipelineObject& pipeline,
                                                             std::uint64_t net, std::uint64_t refresh) {
    auto* opened = Generated::open();
    if (opened == nullptr)
        return failErrno(errno, learning);
    std::unique_ptr<Learner> learner{
        new Learner({opened, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }})};
    opened->rodata->own_net = net;
    opened->rodata->refresh = refresh;
    for (auto* program :
         {opened->progs.set_out4, opened->progs.vet4, opened->progs.came4, opened->progs.arrived4,
          opened->progs.set_out6, opened->progs.vet6, opened->progs.came6, opened->progs.arrived6}) {
        bpf_program__set_type(program, std::bit_cast<bpf_prog_type>(programType));
        bpf_program__set_expected_attach_type(program, std::bit_cast<bpf_attach_type>(attachType));
    }
    learner->streams_ = pipeline.map("streams");
    if (bpf_map__reuse_fd(opened->maps.data_altered, pipeline.cache("altered")) != 0 ||
        bpf_map__reuse_fd(opened->maps.data_rules, pipeline.cache("rules")) != 0 ||
        bpf_map__reuse_fd(opened->maps.lessons, pipeline.map("lessons")) != 0 ||
        bpf_map__reuse_fd(opened->maps.lessons6, pipeline.map("lessons6")) != 0 ||
        bpf_map__reuse_fd(opened->maps.streams, learner->streams_) != 0 || Generated::load(opened) != 0)
        return failErrno(errno, learning);
    learner->rules_ = opened->data_rules->judgement;
    learner->places_ = bpf_map__fd(opened->maps.flow_places);
    learner->sweep_ = bpf_program__fd(opened->progs.sweep);
    learner->judge({});
    leaveStreams(learner->streams_);
    for (const auto& done :
         {learner->link(opened->progs.set_out4, NFPROTO_IPV4, NF_INET_PRE_ROUTING, firstPlace),
          learner->link(opened->progs.vet4, NFPROTO_IPV4, NF_INET_PRE_ROUTING, inFrontOfTracking),
          learner->link(opened->progs.came4, NFPROTO_IPV4, NF_INET_PRE_ROUTING, lastPlace),
          learner->link(opened->progs.arrived4, NFPROTO_IPV4, NF_INET_POST_ROUTING, lastPlace),
          learner->link(opened->progs.set_out6, NFPROTO_IPV6, NF_INET_PRE_ROUTING, firstPlace),
          learner->link(opened->progs.vet6, NFPROTO_IPV6, NF_INET_PRE_ROUTING, inFrontOfTracking),
          learner->link(opened->progs.came6, NFPROTO_IPV6, NF_INET_PRE_ROUTING, lastPlace),
          learner->link(opened->progs.arrived6, NFPROTO_IPV6, NF_INET_POST_ROUTING, lastPlace)})
        if (!done)
            return std::unexpected(done.error());
    return learner;
}

Learner::~Learner() {
    if (rules_ != nullptr)
        judge({});
}

Result<void> Learner::link(const bpf_program* of, unsigned family, unsigned hook, int priority) {
    const int program = bpf_program__fd(of);
    LinkAttributes attributes{
        .program = static_cast<std::uint32_t>(program), .family = family, .hook = hook, .priority = priority};
    UniqueFd fd{static_cast<int>(::syscall(__NR_bpf, BPF_LINK_CREATE, &attributes, sizeof attributes))};
    if (!fd)
        return failErrno(errno, learning);
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (bpf_obj_get_info_by_fd(program, &info, &size) != 0)
        return failErrno(errno, learning);
    programs_.insert(info.id);
    links_.push_back(std::move(fd));
    return {};
}

/// What is as it was stays, and with it what was learnt; unless packets have met other functions.
void Learner::judge(const assemble::RuleJudgement& judgement) {
    const bool same = judged_ && judged_->generation == judgement.generation && !missed();
    if (!same || judged_->ipv4 != judgement.ipv4)
        publish(rules_[0], judgement.generation, judgement.ipv4);
    if (!same || judged_->ipv6 != judgement.ipv6)
        publish(rules_[1], judgement.generation, judgement.ipv6);
    judged_ = judgement;
}

/// What finds no room there is left to Linux.
void Learner::learnBetween(const assemble::FlowPlaces& places) {
    if (places == known_)
        return;
    for (const auto& [ifindex, place] : known_)
        if (!places.contains(ifindex))
            bpf_map_delete_elem(places_, &ifindex);
    known_ = places;
    for (const auto& [ifindex, place] : places) {
        const auto value = static_cast<std::uint8_t>((place.comes ? TNA_FLOW_COMES : 0U) |
                                                     (place.leaves ? TNA_FLOW_LEAVES : 0U));
        bpf_map_update_elem(places_, &ifindex, &value, BPF_ANY);
    }
}

std::vector<Stream> Learner::streams() const {
    constexpr std::uint32_t atOnce = 1024;
    std::vector<std::uint64_t> entries(atOnce);
    std::vector<tna_stream> values(atOnce);
    std::vector<Stream> all;
    std::uint32_t place = 0;
    for (bool begun = false;; begun = true) {
        std::uint32_t count = atOnce;
        const int error = bpf_map_lookup_batch(streams_, begun ? &place : nullptr, &place, entries.data(),
                                               values.data(), &count, nullptr);
        if (error != 0 && error != -ENOENT) // what is left comes next time
            return all;
        for (std::uint32_t i = 0; i < count; ++i)
            all.push_back({entries[i], values[i]});
        if (error != 0)
            return all;
    }
}

std::optional<tna_stream> Learner::stream(std::uint64_t entry) const {
    tna_stream found{};
    if (bpf_map_lookup_elem(streams_, &entry, &found) != 0)
        return std::nullopt;
    return found;
}

void Learner::sweep() const {
    LIBBPF_OPTS(bpf_test_run_opts, options);
    (void)bpf_prog_test_run_opts(sweep_, &options); // if it fails, there is less room
}

bool Learner::missed() const {
    return __atomic_load_n(&rules_[0].missed, __ATOMIC_RELAXED) != 0 ||
           __atomic_load_n(&rules_[1].missed, __ATOMIC_RELAXED) != 0;
}

} // namespace tna::deploy
