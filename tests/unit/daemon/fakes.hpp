// SPDX-License-Identifier: Apache-2.0
// A namespace and a kernel that are made up, for what the daemon decides about them.
#pragma once

#include "daemon/kernel.hpp"
#include "introspect/network_source.hpp"

#include <atomic>
#include <functional>
#include <linux/neighbour.h>

namespace tna::test {

inline constexpr model::IfIndex bridgeIndex = 1;
inline constexpr model::IfIndex portIndex = 2;

/// A bridge with one port, which can be accelerated. What `next` does is seen when it is processed.
class FakeNetwork : public introspect::NetworkSource {
public:
    FakeNetwork() {
        model::Link bridge;
        bridge.ifindex = bridgeIndex;
        bridge.name = "br0";
        bridge.kind = "bridge";
        bridge.bridge.emplace();
        model::Link port;
        port.ifindex = portIndex;
        port.name = "eth0";
        port.driver = "ena";
        port.master = bridgeIndex;
        port.bridgePort.emplace();
        model.links = {{bridgeIndex, bridge}, {portIndex, port}};
    }
    [[nodiscard]] const model::Network& network() const override { return model; }
    [[nodiscard]] Result<introspect::Changes> process() override {
        if (unreadable)
            return fail("cannot read");
        const auto change = std::exchange(next, nullptr);
        return change ? change(model) : introspect::Changes{};
    }
    [[nodiscard]] Result<void> refreshSysctls() override { return {}; }
    void suspect(model::IfIndex ifindex) override { suspects.insert(ifindex); }
    void suspectAll() override { allSuspected++; }
    [[nodiscard]] introspect::Stats stats() const override { return {}; }

    model::Network model;
    std::function<introspect::Changes(model::Network&)> next;
    bool unreadable = false;
    std::set<model::IfIndex> suspects;
    unsigned allSuspected = 0;
};

/// What a fast path has been told, and what it answers.
struct PathState {
    assemble::Plan plan;
    unsigned plans = 0;
    std::map<model::IfIndex, Error> failing;
    std::set<model::IfIndex> attached;
    std::function<void()> onApply;
    deploy::ModulesById modules;
    unsigned forgotten = 0;
    std::vector<std::string> mistrusted;
    std::optional<deploy::Disagreement> found;
    deploy::Mistrust takenOver;
    std::size_t inherited = 0;
    bool handedOver = false;
    bool canLearn = true; ///< connections, where there are rules
    unsigned learners = 0;
    assemble::FlowPlaces places; ///< between which is learnt
    int bridgeLearners = 0;      ///< of what passes rules of bridges
    bool missed = false;         ///< packets meet other functions than those that were judged
    std::vector<assemble::RuleJudgement> judgements;
    bool open = false;
    bool cut = false;
    std::map<model::IfIndex, deploy::PortCounters> counters;
    bool mirrors = false;         ///< has a table of stations
    unsigned stationsWritten = 0; ///< times that something might have been
};

class FakeStations : public deploy::StationTable {
public:
    explicit FakeStations(std::shared_ptr<PathState> state) : state_(std::move(state)) {}
    [[nodiscard]] Result<void> apply(const std::vector<model::StationChange>&) override {
        state_->stationsWritten++;
        return {};
    }
    [[nodiscard]] std::size_t size() const override { return 0; }
    [[nodiscard]] unsigned capacity() const override { return 1; }
    [[nodiscard]] std::size_t left() const override { return 0; }

private:
    std::shared_ptr<PathState> state_;
};

class FakeLearner : public deploy::ConnectionLearner {
public:
    explicit FakeLearner(std::shared_ptr<PathState> state) : state_(std::move(state)) { state_->learners++; }
    ~FakeLearner() override { state_->learners--; }
    [[nodiscard]] std::set<std::uint32_t> programs() const override { return {77}; }
    void learnBetween(const assemble::FlowPlaces& places) override { state_->places = places; }
    void judge(const assemble::RuleJudgement& judgement) override { state_->judgements.push_back(judgement); }
    [[nodiscard]] bool missed() const override { return state_->missed; }
    [[nodiscard]] std::vector<deploy::Stream> streams() const override { return {}; }
    [[nodiscard]] std::optional<tna_stream> stream(std::uint64_t /*entry*/) const override { return {}; }
    void sweep() const override {}

private:
    std::shared_ptr<PathState> state_;
};

class FakeBridgeLearner : public deploy::BridgeRuleLearner {
public:
    explicit FakeBridgeLearner(std::shared_ptr<PathState> state) : state_(std::move(state)) {
        state_->bridgeLearners++;
    }
    ~FakeBridgeLearner() override { state_->bridgeLearners--; }
    void judge(const assemble::RuleJudgement& judgement) override { state_->judgements.push_back(judgement); }
    [[nodiscard]] bool missed() const override { return state_->missed; }

private:
    std::shared_ptr<PathState> state_;
};

class FakeAttachedPrograms : public deploy::AttachedPrograms {
public:
    explicit FakeAttachedPrograms(std::shared_ptr<PathState> state) : state_(std::move(state)) {}
    [[nodiscard]] std::vector<UniqueFd> handOver() override {
        state_->handedOver = true;
        std::vector<UniqueFd> links(state_->attached.size());
        state_->attached.clear();
        return links;
    }
    void inherit(std::vector<UniqueFd> links) override { state_->inherited += links.size(); }
    [[nodiscard]] bool settled() const override { return true; }
    void settleNext() override {}

private:
    std::shared_ptr<PathState> state_;
};

class FakeRuleLearning : public deploy::RuleLearning {
public:
    explicit FakeRuleLearning(std::shared_ptr<PathState> state) : state_(std::move(state)) {}
    [[nodiscard]] Result<std::unique_ptr<deploy::ConnectionLearner>> ofConnections() const override {
        if (!state_->canLearn)
            return fail("nothing is learnt here");
        return std::make_unique<FakeLearner>(state_);
    }
    [[nodiscard]] Result<std::unique_ptr<deploy::BridgeRuleLearner>> ofBridges() const override {
        if (!state_->canLearn)
            return fail("nothing is learnt here");
        return std::make_unique<FakeBridgeLearner>(state_);
    }

private:
    std::shared_ptr<PathState> state_;
};

class FakeSelfCheck : public deploy::SelfCheck {
public:
    explicit FakeSelfCheck(std::shared_ptr<PathState> state) : state_(std::move(state)) {}
    [[nodiscard]] std::optional<deploy::Disagreement> disagreement() const override { return state_->found; }
    [[nodiscard]] std::vector<std::string> mistrusted() const override { return state_->mistrusted; }
    void trust() const override { state_->mistrusted.clear(); }
    [[nodiscard]] deploy::Mistrust mistrust() const override {
        return {static_cast<unsigned>(state_->mistrusted.size()), {}};
    }
    void mistrustAs(const deploy::Mistrust& other) const override { state_->takenOver = other; }

private:
    std::shared_ptr<PathState> state_;
};

class FakeFdb : public deploy::FdbControl {
public:
    explicit FakeFdb(std::shared_ptr<PathState> state) : state_(state), stations_(std::move(state)) {}
    [[nodiscard]] deploy::StationTable* mirror() override { return state_->mirrors ? &stations_ : nullptr; }
    void open(bool informed) override { state_->open = informed; }

private:
    std::shared_ptr<PathState> state_;
    FakeStations stations_;
};

class FakePath : public deploy::DataPath {
public:
    explicit FakePath(std::shared_ptr<PathState> state)
        : state_(state), attachedPrograms_(state), ruleLearning_(state), selfCheck_(state),
          fdb_(std::move(state)) {}

    void setModules(deploy::ModulesById modules) override { state_->modules = std::move(modules); }
    [[nodiscard]] deploy::Applied apply(const assemble::Plan& plan, const model::Network&) override {
        if (state_->onApply)
            state_->onApply();
        deploy::Applied applied;
        for (const auto& [ifindex, port] : plan.ports) {
            const bool fails = port.profile && state_->failing.contains(ifindex);
            if (fails)
                applied.failures.emplace(ifindex, state_->failing.at(ifindex));
            const auto before = state_->plan.ports.find(ifindex);
            applied.swapped +=
                before == state_->plan.ports.end() || before->second.profile != port.profile ? 1 : 0;
            if (port.profile && !fails)
                state_->attached.insert(ifindex);
            else
                state_->attached.erase(ifindex);
        }
        state_->plan = plan;
        state_->plans++;
        return applied;
    }
    [[nodiscard]] std::map<model::IfIndex, deploy::PortCounters> counters() override {
        return state_->counters;
    }
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const override {
        std::map<model::IfIndex, std::uint64_t> left;
        for (const auto& [ifindex, counted] : state_->counters)
            left.emplace(ifindex, counted.slowPackets());
        return left;
    }
    [[nodiscard]] bool anyCut() const override { return state_->cut; }
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override {
        return state_->attached.contains(ifindex);
    }
    [[nodiscard]] Result<std::unique_ptr<deploy::RefusalLog>> watchRefusals() const override {
        return fail("nothing is seen here");
    }
    [[nodiscard]] deploy::AttachedPrograms& attachedPrograms() override { return attachedPrograms_; }
    [[nodiscard]] const deploy::RuleLearning& ruleLearning() const override { return ruleLearning_; }
    [[nodiscard]] const deploy::SelfCheck& selfCheck() const override { return selfCheck_; }
    [[nodiscard]] deploy::FdbControl& fdb() override { return fdb_; }
    void forgetFlows() const override { state_->forgotten++; }
    void spare(const std::vector<model::PacketFilter>& /*filters*/) override {}
    [[nodiscard]] Result<deploy::Verdict> tryFrame(model::IfIndex,
                                                   const std::vector<std::uint8_t>&) const override {
        return fail("nothing is run here");
    }

private:
    std::shared_ptr<PathState> state_;
    FakeAttachedPrograms attachedPrograms_;
    FakeRuleLearning ruleLearning_;
    FakeSelfCheck selfCheck_;
    FakeFdb fdb_;
};

/// Reads in place what the network says; no station, if it is wrong.
class FakeReader : public capability::InPlaceReader {
public:
    FakeReader(const FakeNetwork& network, const bool& wrong) : network_(network), wrong_(wrong) {}
    Result<capability::PortFacts> readPort(model::IfIndex port) override {
        const auto& settings = *network_.model.links.at(port).bridgePort;
        return capability::PortFacts{(settings.learning ? 1U << 5U : 0U) |
                                         (settings.unicastFlood ? 1U << 6U : 0U),
                                     0, static_cast<unsigned>(settings.state)};
    }
    Result<std::optional<capability::EntryFacts>> readEntry(model::IfIndex port, const model::MacAddress&,
                                                            std::uint16_t) override {
        if (wrong_)
            return std::nullopt;
        return capability::EntryFacts{0, port};
    }
    Result<capability::VlanFacts> readVlan(model::IfIndex, std::uint16_t) override {
        return capability::VlanFacts{};
    }

private:
    const FakeNetwork& network_;
    const bool& wrong_;
};

class FakeKernel : public daemon::Kernel {
public:
    explicit FakeKernel(const FakeNetwork& network) : network_(network) {
        devices[portIndex] = {.native = true, .redirectTarget = true, .frags = false};
    }
    [[nodiscard]] Result<daemon::Loaded> load(const config::Config& config) override {
        loads++;
        connections = config.limits.connections;
        if (refused)
            return std::unexpected(*refused);
        if (config.kernel.fdb == "kfunc" || config.kernel.fdb == "mirror")
            return loadWatched(config, {});
        daemon::Loaded loaded;
        loaded.capabilities.fastPath.available = true;
        loaded.capabilities.tcx.available = tcx;
        loaded.dataPath = newPath();
        loaded.reader = std::make_unique<FakeReader>(network_, wrong);
        return loaded;
    }
    /// The stations of a mirror are those that there are where the test runs.
    [[nodiscard]] Result<daemon::Loaded> loadWatched(const config::Config& config,
                                                     const capability::Capabilities& capabilities) override {
        watchedLoads++;
        if (watchedRefused)
            return std::unexpected(*watchedRefused);
        daemon::Loaded loaded;
        loaded.capabilities = capabilities;
        loaded.capabilities.way = capability::Way::watched;
        loaded.capabilities.fastPath.available = true;
        loaded.capabilities.kfunc = {true, "asked"};
        loaded.capabilities.mrp = mrp;
        loaded.dataPath = newPath();
        if (config.kernel.fdb == "mirror") {
            auto stations = introspect::Stations::open();
            if (!stations)
                return std::unexpected(stations.error());
            loaded.stations.emplace(std::move(*stations));
            paths.back()->mirrors = true;
        }
        return loaded;
    }
    [[nodiscard]] Modules modules() const override { return kernelModules; }
    [[nodiscard]] Result<std::vector<model::FdbEntry>> dumpFdb(std::size_t) const override {
        return std::vector{model::FdbEntry{{}, 0, NUD_REACHABLE, 0, portIndex, bridgeIndex}};
    }
    [[nodiscard]] Result<Devices> xdpFeatures() const override {
        return silent ? Result<Devices>{fail("drivers do not tell")} : devices;
    }
    [[nodiscard]] Result<assemble::RulesInPlace> readRules() override {
        ruleReadings++;
        assemble::RulesInPlace rules;
        rules.set.generation = generation;
        rules.set.functions.emplace();
        return rules;
    }
    [[nodiscard]] Result<void> change(const introspect::ConnectionChange&) override { return {}; }
    [[nodiscard]] bool hasTcxAtIngress(model::IfIndex ifindex) const override {
        return tcxIngress.contains(ifindex);
    }
    [[nodiscard]] bool hasTcxAtEgress(model::IfIndex) const override { return false; }
    [[nodiscard]] Result<std::set<model::IfIndex>> rings() const override {
        return ringsHidden ? Result<std::set<model::IfIndex>>{fail("rings cannot be read")} : ringBridges;
    }
    [[nodiscard]] Result<std::set<model::IfIndex>> promiscuousBridges() const override {
        return promiscuityHidden ? Result<std::set<model::IfIndex>>{fail("links cannot be read")}
                                 : promiscuous;
    }

    Devices devices;
    bool canLearn = true;
    bool tcx = false;    ///< it has that hook
    bool silent = false; ///< what drivers can do is not told
    bool wrong = false;  ///< it is laid out differently
    Modules kernelModules;
    std::optional<Error> refused;
    std::optional<Error> watchedRefused;
    std::set<model::IfIndex> tcxIngress;
    std::set<model::IfIndex> ringBridges;
    bool ringsHidden = false;
    std::set<model::IfIndex> promiscuous; ///< bridges
    bool promiscuityHidden = false;
    bool mrp = true;                        ///< bridges may have rings in this kernel
    std::atomic<unsigned> ruleReadings = 0; ///< in a thread of its own
    std::atomic<std::uint32_t> generation = 5;
    unsigned loads = 0;
    unsigned connections = 0; ///< for which the last one has room
    unsigned watchedLoads = 0;
    std::vector<std::shared_ptr<PathState>> paths; ///< that were loaded, one after the other

private:
    std::unique_ptr<deploy::DataPath> newPath() {
        paths.push_back(std::make_shared<PathState>());
        paths.back()->canLearn = canLearn;
        return std::make_unique<FakePath>(paths.back());
    }
    const FakeNetwork& network_;
};

} // namespace tna::test
