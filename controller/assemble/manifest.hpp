// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "assemble/surroundings.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tna/constants.h>
#include <tna/fastpath.h>
#include <vector>

namespace tna::assemble {

/// How large the CPUs' caches are to be.
struct CacheSizes {
    unsigned flowsPerCpu = 0;
    unsigned flows = 0;                 ///< of all CPUs
    unsigned destinationLines = 0;      ///< of each CPU, each of TNA_DESTINATION_WAYS addresses
    unsigned destinationLinesTotal = 0; ///< of all CPUs

    /// Of IPv6, for as many flows: half as many, rounded up.
    [[nodiscard]] unsigned routes6() const { return (flows + 1) / 2; }
};

/// What the entries of a cache are, if they count what they have forwarded.
enum class Counting { nothing, flows, routes, routes6 };

/// A cache that takes the place of one of the pipeline's own, which is there for one entry only.
struct CacheMap {
    std::string name; ///< as the pipeline's source calls the array
    std::size_t bytes = 0;
    Counting counting = Counting::nothing; ///< the controller reads it
    bool onPageBoundary = false;           ///< begins where a page does
};

/// A value for one of the immediates that make a profile out of the pipeline.
struct ConstantValue {
    tna_constant constant;
    std::uint64_t value;
    bool operator==(const ConstantValue&) const = default;
};

/// Custom modules behind a module's decision.
struct DecisionHook {
    tna_hook hook;
    tna_constant constant;   ///< says that there are some
    const char* next;        ///< the pipeline's map in which it finds the first of them, if it jumps there
    bool asksAlways = false; ///< all of a decision is noted, whether or not they ask for it
};

/// A port as modules are asked whether they are for it.
struct PortInQuestion {
    const Surroundings& around;
    const model::Link& link;
    const model::Link* bridge; ///< whose port it is; null: of none
    Hook hook = Hook::xdp;     ///< where its frames are seen
};

/// Why a port is Linux's that something else than a bridge owns.
[[nodiscard]] std::optional<Reason> ownedByMaster(const PortInQuestion& port);

/// What people are told of checks that send frames to Linux.
struct GuardWords {
    const char* name;
    const char* detail;
    const char* watched; ///< the same where nothing is read in place: how, and how long a change goes unseen
};

/// A network in which a program is run by hand.
enum class Scene { bridge, router, routerBetweenBridges };

/// A profile to be measured.
struct Benchmark {
    const char* what;
    Scene scene = Scene::bridge;
    Profile profile;
    const char* notTimed = nullptr; ///< why a frame by hand cannot be forwarded by it
};
/// In benchmarks, the identity of a custom module that does nothing.
inline constexpr const char* idleCustomModule = "nothing";

/// All that user space has to know of one fast-path module: plain data and pure functions. What is made of
/// it (profiles, constants, caches, trials, benchmarks, what is told to people) loops over manifests. Each is
/// in assemble/modules/NAME.cpp; TNA_FAST_PATH_MODULES of tna/constants.h lists them.
struct Manifest {
    const char* name;
    std::vector<Hook> hooks;                  ///< where it can be part of a program
    tna_constant constant;                    ///< says that it is part of a profile
    unsigned checked = 0;                     ///< TNA_CHECKED_*: how the self-check calls it
    std::optional<DecisionHook> customBehind; ///< its decisions can be handed to custom modules
    std::vector<const char*> notInTrials;     ///< parameters: they are for what is remembered

    std::vector<GuardWords> guards; ///< what it looks at for each frame

    /// Whether it is the module for the sake of which a port is one. Such a port has it in its profile unless
    /// something is against it.
    bool (*isFor)(const PortInQuestion& port);
    /// What is against it where the kernel, or what lies around a port, cannot do without Linux.
    std::vector<Reason> (*obstacles)(const PortInQuestion& port);
    /// What is against it by settings that may be gone at any moment: a port that has only those stands by.
    /// Null: there are none.
    std::vector<Reason> (*settingsAgainst)(const PortInQuestion& port) = nullptr;
    /// As a part of a port's profile; nothing: it has no part in it.
    std::optional<ProfileModule> (*wantedFor)(const PortInQuestion& port);
    /// Whether what it forwards may pass rules of netfilter, whose flows it can learn.
    bool (*meetsRules)(const Profile& profile, const ProfileModule& module);
    /// What a profile's name says of its parameters.
    std::vector<std::string> (*details)(const Profile& profile, const ProfileModule& module);
    std::vector<ConstantValue> (*constants)(const Profile& profile, const ProfileModule& module,
                                            const CacheSizes& sizes);
    std::vector<CacheMap> (*caches)(const ProfileModule& module, const CacheSizes& sizes);
    /// Settings that remembered flows depend on, and of which they cannot see that they have changed: numbers
    /// that are the same as long as flows hold.
    std::vector<std::uint64_t> (*presumes)(const model::Network& network);
    /// Its profiles to be measured, on a machine with br_netfilter or without: the same on every kernel, so
    /// that each has its budget.
    std::vector<Benchmark> (*benchmarks)(bool brNetfilter);
};

/// In the order in which frames meet them.
[[nodiscard]] std::span<const Manifest> manifests();
/// There must be one.
[[nodiscard]] const Manifest& manifestOf(const std::string& module);

/// By module, what its flows presume: when this changes, flows are to be forgotten.
using Presumed = std::map<std::string, std::vector<std::uint64_t>>;
[[nodiscard]] Presumed presumedIn(const model::Network& network);
/// Of all modules, and of what they have in common.
[[nodiscard]] std::vector<GuardWords> guardWords();
[[nodiscard]] std::vector<Benchmark> allBenchmarks(bool brNetfilter);

/// The cache that each pipeline has.
[[nodiscard]] CacheMap flowCache(const CacheSizes& sizes);
/// The others that a profile needs.
[[nodiscard]] std::vector<CacheMap> cachesOf(const Profile& profile, const CacheSizes& sizes);
/// What makes a profile of the pipeline, but for what the kernel is like.
[[nodiscard]] std::vector<ConstantValue> constantsOf(const Profile& profile, const CacheSizes& sizes);
/// The hooks behind decisions where a profile has custom modules.
[[nodiscard]] std::vector<DecisionHook> customHooksOf(const Profile& profile);

} // namespace tna::assemble
