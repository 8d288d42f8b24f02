// SPDX-License-Identifier: Apache-2.0
// The same as fpm/guards/qdisc.bpf.h, from what netlink tells. There, whether there was ever a filter is read
// of the discipline; here filters are counted, so all that fq_codel may do to a frame that is alone must be
// looked at.
#include "assemble/disciplines.hpp"

#include <algorithm>
#include <array>
#include <tna/disciplines.h>

namespace tna::assemble {

namespace {

constexpr std::uint32_t never = 0xffffffff; ///< no limit, in bytes a second or in microseconds

constexpr std::array<std::string_view, 4> kinds = {"noqueue", "pfifo_fast", "fq_codel", "fq"};
constexpr std::array bounds = {DisciplineBound{"fq_codel", "limit", TNA_FQ_CODEL_LIMIT},
                               DisciplineBound{"fq_codel", "memory_limit", TNA_FQ_CODEL_MEMORY},
                               DisciplineBound{"fq_codel", "ce_threshold", never, true},
                               DisciplineBound{"fq", "limit", TNA_FQ_LIMIT},
                               DisciplineBound{"fq", "flow_limit", TNA_FQ_FLOW_LIMIT},
                               DisciplineBound{"fq", "maxrate", never},
                               DisciplineBound{"fq", "ce_threshold", never}};
static_assert(TNA_FQ_CE_THRESHOLD == 1000ULL * never);

bool keeps(const model::Discipline& discipline, const DisciplineBound& bound) {
    if (discipline.kind != bound.kind)
        return true;
    const auto found = discipline.settings.find(std::string(bound.setting));
    return found == discipline.settings.end() ? bound.mayBeAbsent : found->second >= bound.least;
}

} // namespace

std::span<const DisciplineBound> disciplineBounds() {
    return bounds;
}

std::span<const std::string_view> plainKinds() {
    return kinds;
}

bool isPlain(const model::Discipline& discipline) {
    return std::ranges::find(kinds, discipline.kind) != kinds.end() &&
           !discipline.settings.contains("stab") &&
           std::ranges::all_of(bounds,
                               [&](const DisciplineBound& bound) { return keeps(discipline, bound); });
}

bool queuesArePlain(const model::Link& link) {
    const bool queued = link.rootQdisc == "mq";
    if (link.queueFilters > 0 || (!queued && std::ranges::find(kinds, link.rootQdisc) == kinds.end()))
        return false;
    return std::ranges::all_of(link.queues, [&](const model::Discipline& discipline) {
        return (queued && discipline.kind == "mq") || isPlain(discipline);
    });
}

} // namespace tna::assemble
