// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/programs/program_template.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tna/decision.h>
#include <vector>

struct bpf_object;

namespace tna::deploy {

/// What custom modules use of the fast path that they are part of.
struct SharedMaps {
    int ports = -1;    ///< egress ports by slot
    int slots = -1;    ///< ifindex -> slot
    int decision = -1; ///< what has been decided about the frame
};

/// A map of a module's own.
struct ModuleMap {
    std::string name;
    std::uint32_t id = 0;
    std::string type;
    std::uint32_t maxEntries = 0;
};

using HookCounters = std::array<tna_module_counters, TNA_HOOK_COUNT>;

/// "ingress", "bridge", "route", "egress"
[[nodiscard]] const char* hookName(unsigned hook);

/// A custom module: an object that its author compiled with tna/module.h, as the kernel has verified it. Its
/// maps live as long as it; its programs are instructions that chains load their copies of.
class ModuleObject {
public:
    /// What comes in is not trusted. `name` is for messages.
    [[nodiscard]] static Result<std::shared_ptr<const ModuleObject>>
    load(const std::string& name, const std::string& object, Buffers buffers);

    [[nodiscard]] bool has(tna_hook hook, assemble::Hook at = assemble::Hook::xdp) const {
        return program(hook, at).has_value();
    }
    /// Whether its function for a hook cannot be seen to leave packets as they are.
    [[nodiscard]] bool mayChange(tna_hook hook, assemble::Hook at = assemble::Hook::xdp) const {
        return seen(hook, at).mayChange;
    }
    /// Whether it may ask what has been decided.
    [[nodiscard]] bool asks(tna_hook hook, assemble::Hook at = assemble::Hook::xdp) const {
        return seen(hook, at).asks;
    }
    /// A copy of the program for a hook, with the slot of what follows it.
    [[nodiscard]] Result<UniqueFd> instance(tna_hook hook, assemble::Hook at, int next,
                                            const SharedMaps& maps) const;
    /// The same, to become a part of another program; nothing if it has no function for the hook.
    [[nodiscard]] std::optional<Instructions> instructions(tna_hook hook, assemble::Hook at,
                                                           const SharedMaps& maps) const;
    [[nodiscard]] HookCounters counters() const;
    [[nodiscard]] const std::vector<ModuleMap>& maps() const { return maps_; }
    /// The entries of a map of its own, at most `most`, in the words of C; nothing if it has no such map.
    struct MapEntry {
        std::string key;
        std::vector<std::string> values; ///< one, or one for each CPU
    };
    [[nodiscard]] std::optional<std::vector<MapEntry>> dump(const std::string& map, std::size_t most) const;
    /// The descriptor of a map of its own, -1 if it has no such map.
    [[nodiscard]] int mapFd(const std::string& map) const;

private:
    using Owner = std::unique_ptr<bpf_object, void (*)(bpf_object*)>;
    explicit ModuleObject(std::string name, Owner owner) : name_(std::move(name)), owner_(std::move(owner)) {}
    [[nodiscard]] Result<void> take(Buffers buffers);
    using Programs = std::array<std::optional<ProgramTemplate>, TNA_HOOK_COUNT>;
    [[nodiscard]] const std::optional<ProgramTemplate>& program(tna_hook hook, assemble::Hook at) const {
        return (at == assemble::Hook::xdp ? programs_ : programsAtTcx_)[hook];
    }
    /// What can be seen of a function.
    struct Seen {
        bool mayChange = false;
        bool asks = false;
    };
    [[nodiscard]] const Seen& seen(tna_hook hook, assemble::Hook at) const {
        return (at == assemble::Hook::xdp ? seen_ : seenAtTcx_)[hook];
    }
    [[nodiscard]] Result<void> tryCopies(assemble::Hook at);
    /// In whose place the program for a hook has the slot of what follows it.
    [[nodiscard]] int slotBehind(tna_hook hook, assemble::Hook at) const;
    [[nodiscard]] std::map<int, int> replacements(tna_hook hook, assemble::Hook at, int next,
                                                  const SharedMaps& maps) const;

    std::string name_;
    Owner owner_;
    Programs programs_;
    Programs programsAtTcx_;
    std::array<Seen, TNA_HOOK_COUNT> seen_{};
    std::array<Seen, TNA_HOOK_COUNT> seenAtTcx_{};
    std::vector<ModuleMap> maps_;
    SharedMaps placeholders_; ///< in the object, for what chains put there
    int portsAtTcx_ = -1;     ///< the same
    int next_ = -1;
    int nextAtEgress_ = -1;
    int nextAtTcx_ = -1;
    int counters_ = -1;
};

} // namespace tna::deploy
