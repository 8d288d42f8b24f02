// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/function_places.hpp"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <map>
#include <mutex>
#include <utility>

namespace tna::deploy {

namespace {
struct Notes {
    std::mutex mutex;
    std::map<const bpf_program*, FunctionPlaces> places;
};

Notes& notes() {
    static Notes notes;
    return notes;
}

/// What libbpf calls before it loads a program. The flags are those that it would have set.
int note(bpf_program* program, bpf_prog_load_opts* options, long flags) {
    options->prog_flags |= static_cast<__u32>(flags);
    const auto* first = static_cast<const std::uint8_t*>(options->func_info);
    const std::scoped_lock lock(notes().mutex);
    notes().places.erase(program); // of another one that was there before
    if (first != nullptr)
        notes().places[program] = {
            .types = static_cast<int>(options->prog_btf_fd),
            .recordSize = options->func_info_rec_size,
            .number = options->func_info_cnt,
            .records = {first, first + std::size_t{options->func_info_cnt} * options->func_info_rec_size}};
    return 0;
}

bool registerHandlers() {
    LIBBPF_OPTS(libbpf_prog_handler_opts, several, .cookie = BPF_F_XDP_HAS_FRAGS,
                .prog_prepare_load_fn = note);
    LIBBPF_OPTS(libbpf_prog_handler_opts, plain, .prog_prepare_load_fn = note);
    return libbpf_register_prog_handler("xdp.frags", BPF_PROG_TYPE_XDP, BPF_XDP, &several) >= 0 &&
           libbpf_register_prog_handler("tc", BPF_PROG_TYPE_SCHED_CLS, {}, &plain) >= 0;
}
} // namespace

void noteFunctionPlaces() {
    [[maybe_unused]] static const bool registered = registerHandlers();
}

FunctionPlaces functionPlacesOf(const bpf_program* program) {
    const std::scoped_lock lock(notes().mutex);
    const auto found = notes().places.extract(program);
    return found ? std::move(found.mapped()) : FunctionPlaces{};
}

} // namespace tna::deploy
