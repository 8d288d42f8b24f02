// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/hook_lists.hpp"

#include <bpf/bpf.h>
#include <cerrno>
#include <tna/connection.h>

#include "hook_lists.skel.h"
#include "hook_lists_typed.skel.h"

namespace tna::deploy {

namespace {
constexpr const char* listing = "cannot list the functions that netfilter calls";
constexpr std::uint32_t kindOfTables = 1; // NF_HOOK_OP_NF_TABLES

Result<HookList> listOf(const tna_hook_list& found) {
    if (found.number > TNA_HOOK_FUNCTIONS_MAX)
        return fail("netfilter calls {} functions at one place, of which {} are looked at at most",
                    found.number, TNA_HOOK_FUNCTIONS_MAX);
    HookList list{.address = found.list, .functions = {}};
    for (std::size_t i = 0; i < found.number; ++i) {
        const auto& one = found.functions[i];
        list.functions.push_back({one.function, one.priority, one.kind == kindOfTables, one.program});
    }
    return list;
}

Result<void> placesOf(const tna_hook_list (&found)[TNA_RULE_HOOKS], HookPlaces& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto list = listOf(found[i]);
        if (!list)
            return std::unexpected(list.error());
        places.at(i) = std::move(*list);
    }
    return {};
}
} // namespace

Result<HookProbe> HookProbe::load(Casts casts) {
    return casts == Casts::untyped ? loadOf<::hook_lists>() : loadOf<::hook_lists_typed>();
}

template <typename Generated>
Result<HookProbe> HookProbe::loadOf() {
    auto* skeleton = Generated::open_and_load();
    if (skeleton == nullptr)
        return failErrno(errno, listing);
    Skeleton owned{skeleton, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }};
    return HookProbe{std::move(owned), skeleton->progs.list_hooks, skeleton->bss->hooks};
}

Result<HookLists> HookProbe::read() {
    std::array<char, 64> frame{};
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                .repeat = 1);
    *answer_ = {};
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(program_), &options); error != 0)
        return failErrno(-error, listing);
    HookLists lists;
    if (auto done = placesOf(answer_->lists[0], lists.ipv4); !done)
        return std::unexpected(done.error());
    if (auto done = placesOf(answer_->lists[1], lists.ipv6); !done)
        return std::unexpected(done.error());
    if (auto done = placesOf(answer_->lists[2], lists.bridge); !done)
        return std::unexpected(done.error());
    return lists;
}

} // namespace tna::deploy
