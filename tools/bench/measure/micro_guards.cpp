// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/micro_guards.hpp"

#include <algorithm>
#include <bpf/libbpf.h>
#include <cerrno>
#include <tna/fastpath.h>

#include "bench/bpf/guards_shared.h"

#include "guards.skel.h"
#include "guards_typed.skel.h"

namespace tna::bench {

template <typename Generated>
Result<GuardPrograms> GuardPrograms::tryLoad() {
    auto* skeleton = Generated::open_and_load();
    if (skeleton == nullptr)
        return failErrno(errno, "cannot load the guards as programs of their own");
    Skeleton owned{skeleton, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }};
    std::vector<Guard> guards;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        std::string name = bpf_program__name(program);
        std::ranges::replace(name, '_', ' ');
        guards.push_back({std::move(name), bpf_program__fd(program)});
    }
    std::ranges::stable_partition(guards, [](const Guard& guard) { return guard.name == "nothing"; });
    return GuardPrograms{std::move(owned), std::move(guards)};
}

Result<GuardPrograms> GuardPrograms::load(deploy::Casts casts) {
    return casts == deploy::Casts::untyped ? tryLoad<::guards>() : tryLoad<::guards_typed>();
}

unsigned GuardPrograms::repeats() {
    return GUARD_REPEATS;
}

} // namespace tna::bench
