// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/micro.hpp"

#include "assemble/manifest.hpp"
#include "bench/measure/micro_guards.hpp"
#include "bench/measure/turns.hpp"
#include "bench/traffic/traffic.hpp"
#include "capability/kernel.hpp"
#include "deploy/load_fast_path.hpp"
#include "hooks.skel.h"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <cmath>
#include <net/if.h>
#include <optional>
#include <thread>

namespace tna::bench {

namespace {
using assemble::Profile;

Setup setupOf(assemble::Scene scene) {
    switch (scene) {
    case assemble::Scene::router:
        return {.scenario = Scenario::router};
    case assemble::Scene::routerBetweenBridges:
        return {.scenario = Scenario::bridges};
    case assemble::Scene::bridge:
        break;
    }
    return {};
}

struct Program {
    int fd = -1;
    unsigned ifindex = 0;
    Frame frame;
    __u32 verdict = XDP_REDIRECT;
};

Result<void> describe(int program, MicroRow& row) {
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(program, &info, &size) != 0)
        return failErrno(errno, "the kernel does not describe a program");
    row.instructions = info.xlated_prog_len / sizeof(bpf_insn);
    row.jitedBytes = info.jited_prog_len;
    row.verified = info.verified_insns;
    return {};
}

/// Nanoseconds for each frame.
Result<double> timeProgram(const Program& program, unsigned frames) {
    auto frame = program.frame;
    xdp_md context{};
    context.data_end = static_cast<__u32>(frame.size());
    context.ingress_ifindex = program.ifindex;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(),
                .data_size_in = static_cast<__u32>(frame.size()), .ctx_in = &context,
                .ctx_size_in = sizeof(context), .repeat = static_cast<int>(frames));
    if (bpf_prog_test_run_opts(program.fd, &options) != 0)
        return failErrno(errno, "cannot run a program by hand");
    if (options.retval != program.verdict)
        return fail("it leaves the frame to Linux");
    return options.duration;
}

/// A device under test with the fast path beside it, but not in it.
class Surroundings {
public:
    static Result<std::unique_ptr<Surroundings>> make(const Setup& setup, int empty) {
        auto topology = Topology::make(setup);
        if (!topology)
            return std::unexpected(topology.error());
        std::unique_ptr<Surroundings> made{new Surroundings(std::move(*topology), setup)};
        if (auto loaded = made->load(empty); !loaded)
            return std::unexpected(loaded.error());
        return made;
    }
    Result<Program> program(const Profile& profile) {
        const auto inside = NamespaceScope::enter(topology_.device());
        if (!inside)
            return std::unexpected(inside.error());
        const auto fd = fastPath_->program(profile);
        if (!fd)
            return std::unexpected(fd.error());
        return Program{*fd, ::if_nametoindex("d0"), framesOf(setup_).front().sent(0)};
    }
    [[nodiscard]] const NetNamespace& device() const { return topology_.device(); }

private:
    Surroundings(Topology topology, const Setup& setup) : topology_(std::move(topology)), setup_(setup) {}
    Result<void> load(int empty) {
        const auto inside = NamespaceScope::enter(topology_.device());
        if (!inside)
            return std::unexpected(inside.error());
        // The kernel runs a program for a port only if the port has XDP.
        for (const char* port : {"d0", "d1"}) {
            auto link = attachXdp(empty, port);
            if (!link)
                return std::unexpected(link.error());
            links_.push_back(std::move(*link));
        }
        auto probe = deploy::KernelProbe::load();
        if (!probe)
            return std::unexpected(probe.error());
        const auto facts = probe->readNamespace();
        if (!facts)
            return std::unexpected(facts.error());
        const auto kernel = capability::probeKernel();
        if (!kernel)
            return std::unexpected(kernel.error());
        auto loaded = deploy::loadFastPath({16, 256}, *facts, kernel->hookFunctions, probe->casts());
        if (!loaded)
            return std::unexpected(loaded.error());
        fastPath_ = std::move(*loaded);
        std::size_t size = 0;
        const auto* bytes = static_cast<const char*>(hooks__elf_bytes(&size));
        auto module = deploy::ModuleObject::load(assemble::idleCustomModule, std::string(bytes, size),
                                                 deploy::buffersOfKernel());
        if (!module)
            return std::unexpected(module.error());
        fastPath_->setModules({{assemble::idleCustomModule, std::move(*module)}});
        for (const char* port : {"d0", "d1"})
            if (auto known = fastPath_->ports().add(::if_nametoindex(port)); !known)
                return known;
        return {};
    }
    Topology topology_;
    Setup setup_;
    std::unique_ptr<deploy::FastPath> fastPath_;
    std::vector<UniqueFd> links_;
};

/// What is measured: the rows, and what is run for each.
struct Bench {
    UniqueFd empty;
    std::vector<std::unique_ptr<Surroundings>> surroundings;
    std::vector<MicroRow> rows;
    std::vector<Program> programs;
    std::vector<const Surroundings*> places;
    std::optional<GuardPrograms> guards;

    Result<void> add(const Program& program, MicroRow row, const Surroundings* place) {
        if (auto described = describe(program.fd, row); !described)
            return described;
        rows.push_back(std::move(row));
        programs.push_back(program);
        places.push_back(place);
        return {};
    }
};

Result<void> addCase(Bench& bench, const assemble::Benchmark& one) {
    const std::string notTimed = one.notTimed != nullptr ? one.notTimed : "";
    auto made = Surroundings::make(setupOf(one.scene), bench.empty.get());
    if (!made)
        return std::unexpected(made.error());
    bench.surroundings.push_back(std::move(*made));
    auto& place = *bench.surroundings.back();
    const auto program = place.program(one.profile);
    if (!program)
        return std::unexpected(program.error());
    return bench.add(*program, {one.profile.name(), one.what, 0, 0, 0, {}, notTimed}, &place);
}

/// In the first place; the one without a guard comes first.
Result<void> addGuards(Bench& bench) {
    const auto probe = deploy::KernelProbe::load();
    if (!probe)
        return std::unexpected(probe.error());
    auto guards = GuardPrograms::load(probe->casts());
    if (!guards)
        return std::unexpected(guards.error());
    bench.guards.emplace(std::move(*guards));
    for (const auto& guard : bench.guards->guards()) {
        Program program = bench.programs.front();
        program.fd = guard.program;
        program.verdict = XDP_PASS;
        if (auto added = bench.add(program, {.profile = "-", .module = "guard: " + guard.name, .guard = true},
                                   bench.places.front());
            !added)
            return added;
    }
    return {};
}

/// What one look costs: without the program around it, and as one of many.
void reduceToOneLook(std::vector<MicroRow>& rows) {
    const auto first = std::ranges::find_if(rows, &MicroRow::guard);
    if (first == rows.end())
        return;
    const auto around = std::move(*first);
    rows.erase(first);
    const auto share = [&](unsigned MicroRow::* count, MicroRow& row) {
        const double repeats = GuardPrograms::repeats();
        row.*count = static_cast<unsigned>(std::lround(
            std::max(0.0, static_cast<double>(row.*count) - static_cast<double>(around.*count)) / repeats));
    };
    for (auto& row : rows) {
        if (!row.guard)
            continue;
        share(&MicroRow::instructions, row);
        share(&MicroRow::verified, row);
        share(&MicroRow::jitedBytes, row);
        row.nanoseconds.resize(std::min(row.nanoseconds.size(), around.nanoseconds.size()));
        for (std::size_t i = 0; i < row.nanoseconds.size(); i++)
            row.nanoseconds[i] = (row.nanoseconds[i] - around.nanoseconds[i]) / GuardPrograms::repeats();
    }
}

Result<void> time(Bench& bench, std::size_t index, unsigned frames) {
    auto& row = bench.rows[index];
    if (!row.notTimed.empty())
        return {};
    const auto inside = NamespaceScope::enter(bench.places[index]->device());
    if (!inside)
        return std::unexpected(inside.error());
    const auto nanoseconds = timeProgram(bench.programs[index], frames);
    if (nanoseconds)
        row.nanoseconds.push_back(*nanoseconds);
    else
        row.notTimed = nanoseconds.error().sentence();
    return {};
}

/// From one thread, pinned: CPUs remember flows by themselves.
Result<void> timeAll(Bench& bench, const MicroOptions& options, Watcher& watcher) {
    for (unsigned round = 0; round < options.rounds && options.frames != 0; round++)
        for (const auto index : turnsOfRound(bench.rows.size(), round)) {
            if (watcher.interrupted())
                return {};
            watcher.progress(bench.rows[index].module, round, options.rounds);
            if (auto timed = time(bench, index, options.frames); !timed)
                return timed;
        }
    return {};
}
} // namespace

Result<std::vector<MicroRow>> measureMicro(const MicroOptions& options, Watcher& watcher) {
    Bench bench;
    auto empty = deploy::loadPassAll(BPF_PROG_TYPE_XDP, deploy::buffersOfKernel());
    if (!empty)
        return std::unexpected(empty.error());
    bench.empty = std::move(*empty);
    const auto kernel = capability::probeKernel();
    if (!kernel)
        return std::unexpected(kernel.error());
    for (const auto& one : assemble::allBenchmarks(kernel->brNetfilter)) {
        watcher.progress(fmt::format("preparing {}", one.what), 0, 1);
        if (auto added = addCase(bench, one); !added)
            return std::unexpected(added.error());
    }
    Program empties = bench.programs.front();
    empties.fd = bench.empty.get();
    empties.verdict = XDP_PASS;
    if (auto added = bench.add(empties, {"empty", "nothing", 0, 0, 0, {}, {}}, bench.places.front()); !added)
        return std::unexpected(added.error());
    if (auto added = addGuards(bench); !added)
        return std::unexpected(added.error());
    Result<void> timed;
    std::thread([&] {
        pinTo(std::max(1U, std::thread::hardware_concurrency()) - 1);
        timed = timeAll(bench, options, watcher);
    }).join();
    if (!timed)
        return std::unexpected(timed.error());
    // The empty program first, guards last.
    const auto place = std::ranges::find(bench.rows, "empty", &MicroRow::profile);
    std::rotate(bench.rows.begin(), place, place + 1);
    reduceToOneLook(bench.rows);
    return std::move(bench.rows);
}

} // namespace tna::bench
