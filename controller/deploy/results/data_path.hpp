// SPDX-License-Identifier: Apache-2.0
// What the daemon needs of the fast path; it has nothing of libbpf, so that the daemon is tested without a
// kernel.
#pragma once

#include "assemble/profile.hpp"
#include "assemble/rules/flows.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/results/applied.hpp"
#include "deploy/results/disagreement.hpp"
#include "deploy/results/port_counters.hpp"
#include "deploy/results/verdict.hpp"
#include "model/network.hpp"
#include "model/packet_filter.hpp"
#include "model/station.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tna/fastpath.h>
#include <vector>

namespace tna::deploy {

class ModuleObject;

/// Custom modules by identity.
using ModulesById = std::map<std::string, std::shared_ptr<const ModuleObject>>;

/// What the self-check has come to, as the kernel's side keeps it: for another fast path to begin with.
struct Mistrust {
    unsigned modules = 0; ///< TNA_CHECKED_*: those that it has paused
    tna_disagreement found{};
};

/// Stations that a fast path looks up in a table of its own.
class StationTable {
public:
    virtual ~StationTable() = default;
    StationTable(const StationTable&) = delete;
    StationTable& operator=(const StationTable&) = delete;

    /// Takes effect change by change. Stations that find no room stay unknown to the fast path.
    [[nodiscard]] virtual Result<void> apply(const std::vector<model::StationChange>& changes) = 0;
    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual unsigned capacity() const = 0;
    /// Stations that found no room.
    [[nodiscard]] virtual std::size_t left() const = 0;

protected:
    StationTable() = default;
    StationTable(StationTable&&) = default;
    StationTable& operator=(StationTable&&) = default;
};

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

/// A connection of TCP that the fast path keeps an eye on, by the address of its entry.
struct Stream {
    std::uint64_t entry = 0;
    tna_stream known{};
};

/// Learns from what netfilter lets pass, for as long as it lives.
class ConnectionLearner {
public:
    ConnectionLearner() = default;
    virtual ~ConnectionLearner() = default;
    ConnectionLearner(const ConnectionLearner&) = delete;
    ConnectionLearner& operator=(const ConnectionLearner&) = delete;

    /// The BPF programs that netfilter calls for it, by their ids.
    [[nodiscard]] virtual std::set<std::uint32_t> programs() const = 0;
    /// Only what comes and leaves by these, from now on; at first, nothing.
    virtual void learnBetween(const assemble::FlowPlaces& places) = 0;
    /// These are the rules now: what was learnt of others does not hold.
    virtual void judge(const assemble::RuleJudgement& judgement) = 0;
    /// Whether packets have met other functions than those that were judged.
    [[nodiscard]] virtual bool missed() const = 0;
    /// From any thread.
    [[nodiscard]] virtual std::vector<Stream> streams() const = 0;
    [[nodiscard]] virtual std::optional<tna_stream> stream(std::uint64_t entry) const = 0;
};

/// The same from what rules of bridges let pass.
class BridgeRuleLearner {
public:
    BridgeRuleLearner() = default;
    virtual ~BridgeRuleLearner() = default;
    BridgeRuleLearner(const BridgeRuleLearner&) = delete;
    BridgeRuleLearner& operator=(const BridgeRuleLearner&) = delete;

    /// These are the rules now: what was learnt of others does not hold.
    virtual void judge(const assemble::RuleJudgement& judgement) = 0;
    /// Whether packets have met other functions than those that were judged.
    [[nodiscard]] virtual bool missed() const = 0;
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

    /// What is attached, for another pipeline or process to go on with: until then all is left to Linux.
    [[nodiscard]] virtual std::vector<UniqueFd> handOver() = 0;
    /// Takes it; what the next plan has no use for is detached then.
    virtual void inherit(std::vector<UniqueFd> links) = 0;

    /// Whether changing the profile of any port is fast by now; if not, settleNext() does more for it.
    [[nodiscard]] virtual bool settled() const = 0;
    /// Gives one more port an entry program of its own.
    virtual void settleNext() = 0;

    /// Looks for frames that drivers refuse, for as long as the answer lives.
    [[nodiscard]] virtual Result<std::unique_ptr<RefusalLog>> watchRefusals() const = 0;

    /// Begins to learn what becomes of connections where there are rules.
    [[nodiscard]] virtual Result<std::unique_ptr<ConnectionLearner>> learnConnections() const = 0;

    /// The same where bridges have rules of their own.
    [[nodiscard]] virtual Result<std::unique_ptr<BridgeRuleLearner>> learnBridgeRules() const = 0;

    /// Makes every flow prove itself from nothing, once.
    virtual void forgetFlows() const = 0;

    /// Packet sockets with these filters want nothing that is forwarded from now on.
    virtual void spare(const std::vector<model::PacketFilter>& filters) = 0;

    /// Why the self-check has paused modules.
    [[nodiscard]] virtual std::optional<Disagreement> disagreement() const = 0;
    /// The modules that it has paused.
    [[nodiscard]] virtual std::vector<std::string> mistrusted() const = 0;
    /// All are believed again; or those not that another fast path did not believe.
    virtual void trust() const = 0;
    [[nodiscard]] virtual Mistrust mistrust() const = 0;
    virtual void mistrustAs(const Mistrust& other) const = 0;

    /// Of the watched pipeline, unless the bridge is asked; null otherwise.
    [[nodiscard]] virtual StationTable* mirror() = 0;
    /// Whether the watched pipeline knows all that Linux knows; else, frames are left to Linux. So they are
    /// while the kernel has not taken out of a map what was to go.
    virtual void open(bool informed) = 0;

    /// Runs a port's program on a frame as if it had come in there, finished and in one buffer. Nothing is
    /// sent, counted, or remembered.
    [[nodiscard]] virtual Result<Verdict> tryFrame(model::IfIndex port,
                                                   const std::vector<std::uint8_t>& frame) const = 0;
};

} // namespace tna::deploy
