// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/module_object.hpp"

#include "deploy/custom/module_chain.hpp"
#include "deploy/custom/module_elf.hpp"
#include "deploy/custom/only_looks.hpp"
#include "deploy/programs/verifier_log.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <map>
#include <string_view>

namespace tna::deploy {

namespace {
constexpr std::uint64_t mostMapBytes = std::uint64_t{1} << 28U;
constexpr std::size_t mostMaps = 32;
constexpr const char* contract = "tna-fpm(7) tells what a module consists of";

constexpr std::array<const char*, TNA_HOOK_COUNT> hookNames{"ingress", "bridge", "route", "egress"};
constexpr std::string_view prefixAtXdp = "tna_on_", prefixAtTcx = "tna_tcx_on_";

Error breaksContract(std::string cause) {
    return {"this is not a custom module", std::move(cause), contract};
}

/// The maps that tna/module.h declares; a hook's program need not use all of them.
constexpr std::array<std::string_view, 8> declaredMaps{"tna_next",     "tna_next_egress", "tna_next_tcx",
                                                       "tna_counters", "tna_decision",    "tna_ports",
                                                       "tna_slots",    "tna_ports_tcx"};

bool declared(const bpf_map* map) {
    return std::ranges::find(declaredMaps, std::string_view(bpf_map__name(map))) != declaredMaps.end();
}

/// What one of its programs is for.
struct Purpose {
    tna_hook hook;
    assemble::Hook at;
};

std::optional<Purpose> purposeOf(const bpf_program* program) {
    std::string_view name = bpf_program__name(program);
    const bool tcx = name.starts_with(prefixAtTcx);
    if (!tcx && !name.starts_with(prefixAtXdp))
        return std::nullopt;
    name.remove_prefix(tcx ? prefixAtTcx.size() : prefixAtXdp.size());
    const auto it = std::ranges::find(hookNames, name);
    if (it == hookNames.end())
        return std::nullopt;
    const Purpose purpose{static_cast<tna_hook>(it - hookNames.begin()),
                          tcx ? assemble::Hook::tcx : assemble::Hook::xdp};
    const bool egress = purpose.hook == TNA_HOOK_EGRESS;
    if (tcx)
        return egress || bpf_program__type(program) != BPF_PROG_TYPE_SCHED_CLS ? std::nullopt
                                                                               : std::optional{purpose};
    return bpf_program__type(program) != BPF_PROG_TYPE_XDP ||
                   bpf_program__expected_attach_type(program) != (egress ? BPF_XDP_DEVMAP : BPF_XDP)
               ? std::nullopt
               : std::optional{purpose};
}

std::string described(const Purpose& purpose) {
    return fmt::format("{}{}", hookName(purpose.hook), purpose.at == assemble::Hook::tcx ? " at tcx" : "");
}

Result<void> checkVersion(const bpf_object* object) {
    const unsigned version = bpf_object__kversion(object);
    const unsigned abi = version >> 16U;
    if ((version & 0xffffU) == TNA_REASON_COUNT && abi >= TNA_MODULE_ABI_OLDEST && abi <= TNA_MODULE_ABI)
        return {};
    if (version == 0)
        return std::unexpected(breaksContract("it was not built with tna/module.h"));
    return std::unexpected(
        Error{fmt::format("the module was built with another version of tna/module.h ({}.{})", version >> 16U,
                          version & 0xffffU),
              fmt::format("this tnad has {}.{}", TNA_MODULE_VERSION >> 16U, TNA_MODULE_VERSION & 0xffffU),
              "compile it again with the tna/module.h of this version"});
}

/// What the object asks for before anything is loaded.
Result<void> checkContract(bpf_object* object) {
    if (auto version = checkVersion(object); !version)
        return version;
    unsigned hooks = 0, hooksAtTcx = 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, object) {
        const auto purpose = purposeOf(program);
        if (!purpose)
            return std::unexpected(breaksContract(
                fmt::format("its program '{}' is not made by TNA_INGRESS(), TNA_BRIDGE(), TNA_ROUTE() or "
                            "TNA_EGRESS()",
                            bpf_program__name(program))));
        (purpose->at == assemble::Hook::xdp ? hooks : hooksAtTcx) |= 1U << purpose->hook;
    }
    if (hooks == 0)
        return std::unexpected(breaksContract("it has no function for any hook"));
    if ((hooksAtTcx & ~hooks) != 0)
        return std::unexpected(breaksContract("it has a function for tcx that it does not have for XDP"));
    std::uint64_t bytes = 0;
    std::size_t maps = 0;
    const auto cpus = static_cast<std::uint64_t>(libbpf_num_possible_cpus());
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, object) {
        bpf_map__set_pin_path(map, nullptr); // nobody's file system is written to
        const auto type = bpf_map__type(map);
        const bool perCpu = type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
                            type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
        bytes += std::uint64_t{bpf_map__max_entries(map)} *
                 (bpf_map__key_size(map) + std::uint64_t{bpf_map__value_size(map)} * (perCpu ? cpus : 1));
        maps++;
    }
    if (bytes > mostMapBytes || maps > mostMaps)
        return std::unexpected(Error{"the module's maps are too large",
                                     fmt::format("{} maps of {} bytes together; {} and {} are the most", maps,
                                                 bytes, mostMaps, mostMapBytes),
                                     "lower max_entries"});
    return {};
}

const char* mapType(bpf_map_type type) {
    const char* name = libbpf_bpf_map_type_str(type);
    return name != nullptr ? name : "unknown";
}
} // namespace

const char* hookName(unsigned hook) {
    return hook < hookNames.size() ? hookNames[hook] : "unknown";
}

Result<std::shared_ptr<const ModuleObject>> ModuleObject::load(const std::string& name,
                                                               const std::string& object, Buffers buffers) {
    if (auto sound = checkElf(object); !sound)
        return std::unexpected(sound.error());
    if (auto tried = tryToOpen(object); !tried)
        return std::unexpected(tried.error());
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name.c_str());
    Owner owner{bpf_object__open_mem(object.data(), object.size(), &options), bpf_object__close};
    if (!owner)
        return failErrno(errno, "libbpf does not take the object");
    if (auto kept = checkContract(owner.get()); !kept)
        return std::unexpected(kept.error());

    std::map<const bpf_program*, std::string> logs;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, owner.get()) {
        auto& log = logs[program];
        log.resize(verifierLogSize);
        bpf_program__set_log_buf(program, log.data(), log.size());
        if (bpf_program__type(program) == BPF_PROG_TYPE_XDP)
            bpf_program__set_flags(program, programFlags(buffers));
    }
    if (bpf_object__load(owner.get()) != 0) {
        const int code = errno;
        for (const auto& [refused, log] : logs)
            if (bpf_program__fd(refused) < 0 && log[0] != '\0')
                return std::unexpected(Error{fmt::format("the kernel refuses the module's function for {}",
                                                         described(*purposeOf(refused))),
                                             errnoText(code), endOfVerifierLog(log.data())});
        return failErrno(code, "the kernel refuses the module");
    }
    std::shared_ptr<ModuleObject> module{new ModuleObject(name, std::move(owner))};
    if (auto taken = module->take(buffers); !taken)
        return std::unexpected(taken.error());
    return module;
}

Result<void> ModuleObject::take(Buffers buffers) {
    const auto fdOf = [&](const char* name) { return bpf_object__find_map_fd_by_name(owner_.get(), name); };
    next_ = fdOf("tna_next");
    nextAtEgress_ = fdOf("tna_next_egress");
    nextAtTcx_ = fdOf("tna_next_tcx");
    counters_ = fdOf("tna_counters");
    placeholders_ = {fdOf("tna_ports"), fdOf("tna_slots"), fdOf("tna_decision")};
    portsAtTcx_ = fdOf("tna_ports_tcx");
    if (next_ < 0 || nextAtEgress_ < 0 || counters_ < 0)
        return std::unexpected(breaksContract("it was not built with tna/module.h"));
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, owner_.get()) {
        const auto purpose = *purposeOf(program);
        (purpose.at == assemble::Hook::xdp ? programs_ : programsAtTcx_)[purpose.hook].emplace(program,
                                                                                               buffers);
    }
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, owner_.get()) {
        bpf_map_info info{};
        __u32 size = sizeof(info);
        if (!declared(map) && bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &size) == 0)
            maps_.push_back(
                {bpf_map__name(map), info.id, mapType(bpf_map__type(map)), bpf_map__max_entries(map)});
    }
    for (const auto at : {assemble::Hook::xdp, assemble::Hook::tcx})
        if (auto tried = tryCopies(at); !tried)
            return tried;
    return {};
}

/// Chains load copies of the instructions alone; what cannot be loaded so is to be known at once.
Result<void> ModuleObject::tryCopies(assemble::Hook at) {
    auto maps = placeholders_;
    if (at == assemble::Hook::tcx)
        maps.ports = portsAtTcx_;
    for (unsigned number = 0; number < programs_.size(); number++) {
        const auto hook = static_cast<tna_hook>(number);
        if (!has(hook, at))
            continue;
        const auto code = program(hook, at)->instructions({}, {});
        if (hasCallbacks(code))
            return std::unexpected(
                Error{fmt::format("the module's function for {} has callbacks", described({hook, at})),
                      "bpf_loop(), bpf_for_each_map_elem() and timers call them, which a module cannot have",
                      "write a for loop with a bound instead"});
        const auto slot = makeTailCallSlot(-1);
        if (!slot)
            return std::unexpected(slot.error());
        if (auto copy = instance(hook, at, slot->get(), maps); !copy)
            return std::unexpected(copy.error());
        auto& seen = at == assemble::Hook::xdp ? seen_[hook] : seenAtTcx_[hook];
        seen = {.mayChange = !onlyLooks(code, at), .asks = namesMap(code, placeholders_.decision)};
    }
    return {};
}

Result<UniqueFd> ModuleObject::instance(tna_hook hook, assemble::Hook at, int next,
                                        const SharedMaps& maps) const {
    const auto& copied = program(hook, at);
    if (!copied)
        return fail("the module '{}' has no function for {}", name_, described({hook, at}));
    auto code = copied->instructions(replacements(hook, at, next, maps), {});
    callAtMarks(code, hook);
    return copied->load(code);
}

std::optional<Instructions> ModuleObject::instructions(tna_hook hook, assemble::Hook at,
                                                       const SharedMaps& maps) const {
    const auto& copied = program(hook, at);
    if (!copied)
        return std::nullopt;
    return copied->instructions(replacements(hook, at, slotBehind(hook, at), maps), {});
}

int ModuleObject::slotBehind(tna_hook hook, assemble::Hook at) const {
    if (at == assemble::Hook::tcx)
        return nextAtTcx_;
    return hook == TNA_HOOK_EGRESS ? nextAtEgress_ : next_;
}

std::map<int, int> ModuleObject::replacements(tna_hook hook, assemble::Hook at, int next,
                                              const SharedMaps& maps) const {
    return {{slotBehind(hook, at), next},
            {at == assemble::Hook::tcx ? portsAtTcx_ : placeholders_.ports, maps.ports},
            {placeholders_.slots, maps.slots},
            {placeholders_.decision, maps.decision}};
}

HookCounters ModuleObject::counters() const {
    HookCounters sums{};
    std::vector<tna_module_counters> perCpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    for (__u32 hook = 0; hook < sums.size(); hook++) {
        if (bpf_map_lookup_elem(counters_, &hook, perCpu.data()) != 0)
            continue;
        for (const auto& part : perCpu) {
            for (unsigned i = 0; i < TNA_VERDICT_COUNT; i++)
                sums[hook].verdicts[i] += part.verdicts[i];
            sums[hook].faults += part.faults;
        }
    }
    return sums;
}

int ModuleObject::mapFd(const std::string& map) const {
    const auto* found = bpf_object__find_map_by_name(owner_.get(), map.c_str());
    return found == nullptr || declared(found) ? -1 : bpf_map__fd(found);
}

} // namespace tna::deploy
