// SPDX-License-Identifier: Apache-2.0
// What the daemon needs of the fast path; it has nothing of libbpf, so that the daemon is tested without a
// kernel.
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/results/applied.hpp"
#include "deploy/results/attached_programs.hpp"
#include "deploy/results/fdb_control.hpp"
#include "deploy/results/port_counters.hpp"
#include "deploy/results/rule_learning.hpp"
#include "deploy/results/self_check.hpp"
#include "deploy/results/verdict.hpp"
#include "model/network.hpp"
#include "model/packet_filter.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tna::deploy {

class ModuleObject;

/// Custom modules by identity.
using ModulesById = std::map<std::string, std::shared_ptr<const ModuleObject>>;

/// Frames that a driver has refused after they had been redirected to its device: they are lost.
struct Refusal {
    std::uint64_t frames = 0;
    int error = 0; ///< what the driver said, as in errno
    unsigned cpu = 0;
};

/// What drivers refuse is written here, and such ports are left to Linux at once.
class RefusalLog {
public:
    RefusalLog() = default;
    virtual ~RefusalLog() = default;
    RefusalLog(const RefusalLog&) = delete;
    RefusalLog& operator=(const RefusalLog&) = delete;

    /// Since the port was forgotten last, by its index.
    [[nodiscard]] virtual std::map<model::IfIndex, Refusal> read() const = 0;
    virtual void forget(model::IfIndex ifindex) const = 0;
};

/// The fast path of one network namespace.
class DataPath {
public:
    DataPath() = default;
    virtual ~DataPath() = default;
    DataPath(const DataPath&) = delete;
    DataPath& operator=(const DataPath&) = delete;

    /// The custom modules that plans name, by identity; those of the plan in place must stay among them.
    virtual void setModules(ModulesById modules) = 0;
    /// Makes the namespace as the plan wants it. A port that fails is left to Linux; the others go on.
    [[nodiscard]] virtual Applied apply(const assemble::Plan& plan, const model::Network& network) = 0;

    [[nodiscard]] virtual std::map<model::IfIndex, PortCounters> counters() = 0;
    /// How many frames each port has left to Linux: what of that is read soon.
    [[nodiscard]] virtual std::map<model::IfIndex, std::uint64_t> leftToLinux() const = 0;
    /// Whether somebody else has detached something of ours, or its device is gone.
    [[nodiscard]] virtual bool anyCut() const = 0;
    [[nodiscard]] virtual bool attached(model::IfIndex ifindex) const = 0;
    [[nodiscard]] virtual AttachedPrograms& attachedPrograms() = 0;

    /// Looks for frames that drivers refuse, for as long as the answer lives.
    [[nodiscard]] virtual Result<std::unique_ptr<RefusalLog>> watchRefusals() const = 0;
    [[nodiscard]] virtual const RuleLearning& ruleLearning() const = 0;
    [[nodiscard]] virtual const SelfCheck& selfCheck() const = 0;
    [[nodiscard]] virtual FdbControl& fdb() = 0;

    /// Makes every flow prove itself from nothing, once.
    virtual void forgetFlows() const = 0;
    /// Packet sockets with these filters want nothing that is forwarded from now on.
    virtual void spare(const std::vector<model::PacketFilter>& filters) = 0;

    /// Runs a port's program on a frame as if it had come in there, finished and in one buffer. Nothing is
    /// sent, counted, or remembered.
    [[nodiscard]] virtual Result<Verdict> tryFrame(model::IfIndex port,
                                                   const std::vector<std::uint8_t>& frame) const = 0;
};

} // namespace tna::deploy
