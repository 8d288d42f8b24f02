// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/function_places.hpp"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <cstring>
#include <linux/bpf.h>
#include <map>
#include <memory>
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

/// The type of a function that is not global, of those that the kernel knows by this descriptor; 0: there is
/// none.
std::uint32_t typeOfSomeStaticFunction(int types) {
    bpf_btf_info info{};
    __u32 size = sizeof info;
    if (bpf_obj_get_info_by_fd(types, &info, &size) != 0)
        return 0;
    const std::unique_ptr<btf, decltype(&btf__free)> known{btf__load_from_kernel_by_id(info.id), btf__free};
    for (__u32 id = 1; known && id < btf__type_cnt(known.get()); id++)
        if (const auto* type = btf__type_by_id(known.get(), id);
            btf_is_func(type) && btf_vlen(type) == BTF_FUNC_STATIC)
            return id;
    return 0;
}
} // namespace

FunctionPlaces FunctionPlaces::within(const Instructions& joined) const {
    const auto begins = beginsOfFunctions(joined);
    if (number == 0 || recordSize < sizeof(bpf_func_info) || begins.size() < number)
        return {};
    auto places = *this;
    places.number = static_cast<std::uint32_t>(begins.size());
    places.records.resize(std::size_t{places.number} * recordSize);
    // What the others call has types elsewhere; to the verifier, one that is followed at each call is like
    // another.
    const auto others = begins.size() > number ? typeOfSomeStaticFunction(types) : 0;
    if (begins.size() > number && others == 0)
        return {};
    std::uint32_t moved = 0;
    for (std::uint32_t index = 0; index < places.number; index++) {
        auto* record = places.records.data() + std::size_t{index} * recordSize;
        bpf_func_info function{.insn_off = 0, .type_id = others};
        if (index < number)
            std::memcpy(&function, record, sizeof function);
        if (index == 1)
            moved = begins[1] - function.insn_off;
        if (index < number && begins[index] != function.insn_off + (index == 0 ? 0 : moved))
            return {};
        function.insn_off = begins[index];
        std::memcpy(record, &function, sizeof function);
    }
    return places;
}

void noteFunctionPlaces() {
    [[maybe_unused]] static const bool registered = registerHandlers();
}

FunctionPlaces functionPlacesOf(const bpf_program* program) {
    const std::scoped_lock lock(notes().mutex);
    const auto found = notes().places.extract(program);
    return found ? std::move(found.mapped()) : FunctionPlaces{};
}

} // namespace tna::deploy
