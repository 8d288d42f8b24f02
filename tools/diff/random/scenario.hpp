// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"
#include "diff/random/chance.hpp"
#include "diff/random/source.hpp"
#include "diff/random/topology.hpp"

#include <memory>
#include <utility>

namespace tna::diff {

/// A random configuration that changes: at most one setting at a time stops traffic, and does not last.
class Scenario {
public:
    virtual ~Scenario() = default;
    /// The commands that make it.
    [[nodiscard]] virtual std::vector<std::string> setup() = 0;
    /// What puts links and addresses back that a change of something else has taken with it.
    [[nodiscard]] virtual std::string restoration() { return "true"; }
    /// Something that changes.
    [[nodiscard]] std::vector<Step> change();
    [[nodiscard]] virtual Topology& topology() { return topology_; }
    /// Of packets, when it has been set up.
    [[nodiscard]] virtual std::unique_ptr<Source> source();
    /// How often it changes at least, of cases that are not short, and one change in how many the daemon does
    /// not hear of before the next one.
    struct Pace {
        unsigned changes = 20;
        unsigned unheard = 3;
        unsigned late = 0; ///< packets that come before it hears of the others, at most
    };
    [[nodiscard]] virtual Pace pace() const { return {}; }
    /// How many connections the fast path learns.
    [[nodiscard]] virtual unsigned connections() const { return 0; }
    /// How many packets there may be before the next change, where time would decide otherwise.
    [[nodiscard]] std::size_t untilNext() const { return untilNext_; }

    static constexpr unsigned ports = 4;

protected:
    explicit Scenario(Chance& chance) : chance_(chance) {}
    [[nodiscard]] virtual std::vector<Step> newChange() = 0;
    /// The same for all: filters, captures, and links that fail.
    [[nodiscard]] std::vector<Step> filter();
    [[nodiscard]] std::vector<Step> capture();
    [[nodiscard]] std::vector<Step> carrier();
    /// A host is found behind another port, or has another address.
    [[nodiscard]] std::string port() { return "p" + std::to_string(chance_.below(ports)); }
    [[nodiscard]] static std::vector<Step> commands(const std::vector<std::string>& lines);
    /// Half the time, nothing; else what has two ports, or all, take large frames.
    [[nodiscard]] std::vector<std::string> largeFrames();
    /// What is undone before the next change.
    void undoBy(std::vector<Step> steps) { undo_ = std::move(steps); }
    void undoBy(const std::string& words) { undo_ = commands({words}); }
    void nextAfter(std::size_t packets) { untilNext_ = packets; }

    Chance& chance_;
    Topology topology_;

private:
    std::vector<Step> undo_;
    std::size_t untilNext_ = SIZE_MAX;
};

[[nodiscard]] std::unique_ptr<Scenario> bridgeScenario(Chance& chance, bool vlans);
[[nodiscard]] std::unique_ptr<Scenario> routerScenario(Chance& chance);
/// Bridges with addresses that packets are routed between.
[[nodiscard]] std::unique_ptr<Scenario> routedBridgeScenario(Chance& chance);
/// VLAN devices that packets are routed between.
[[nodiscard]] std::unique_ptr<Scenario> vlanRouterScenario(Chance& chance);
/// A router, or bridges that packets are routed between, with many routes.
[[nodiscard]] std::unique_ptr<Scenario> tablesScenario(Chance& chance);
/// The same with routes of all kinds, with all that routes may say.
[[nodiscard]] std::unique_ptr<Scenario> routeOptionsScenario(Chance& chance);
/// Any of bridges and routers whose ports have queueing disciplines with parameters, classes and filters.
[[nodiscard]] std::unique_ptr<Scenario> qdiscScenario(Chance& chance);
/// Any of them whose settings change: all that this kernel has.
[[nodiscard]] std::unique_ptr<Scenario> sysctlScenario(Chance& chance);
/// Any of them with devices of all kinds that this kernel makes.
[[nodiscard]] std::unique_ptr<Scenario> linksScenario(Chance& chance);
/// A router whose packets pass rules, and belong to connections.
[[nodiscard]] std::unique_ptr<Scenario> firewallScenario(Chance& chance);
/// The same, with services and clients that are known by other addresses.
[[nodiscard]] std::unique_ptr<Scenario> natScenario(Chance& chance);
/// The same of packets that are bridged (br_netfilter).
[[nodiscard]] std::unique_ptr<Scenario> bridgedFirewallScenario(Chance& chance);
/// A bridge with rules of its own.
[[nodiscard]] std::unique_ptr<Scenario> bridgeRulesScenario(Chance& chance);
[[nodiscard]] std::unique_ptr<Scenario> containersScenario(Chance& chance);
/// Ports that join and leave a device with a routing table of its own.
[[nodiscard]] std::unique_ptr<Scenario> vrfScenario(Chance& chance);

} // namespace tna::diff
