// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/study.hpp"

#include "bench/results/document.hpp"
#include "bench/results/journal.hpp"
#include "bench/results/schedule.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace tna::bench {

namespace {
/// Warming up, counting to the last frame, and making room for the next.
constexpr double betweenCases = 0.25;
constexpr double startOfTenant = 0.06;

const SubjectKind& kindOf(const std::string& name) {
    return *std::ranges::find(subjectKinds, name, &SubjectKind::name);
}

Burden burdenOf(const std::string& name) {
    return static_cast<Burden>(std::ranges::find(burdenNames, name) - burdenNames.begin());
}

nlohmann::json optionsDocument(const TenantsOptions& options) {
    return {{"subjects", options.subjects},
            {"burdens", options.burdens},
            {"tenants", options.tenants},
            {"sizes", options.sizes},
            {"checksums", options.checksums},
            {"seconds", options.seconds},
            {"rounds", options.rounds},
            {"tx", textOrNull(options.cabling.tx)},
            {"rx", textOrNull(options.cabling.rx)},
            {"dut", textOrNull(options.cabling.dut)},
            {"forward_as", textOrNull(options.forwardAs)},
            {"pmd", textOrNull(options.tenancy.pmd)},
            {"vm", textOrNull(options.tenancy.vm)}};
}

nlohmann::json missingDocument(const MissingTenants& missing) {
    auto list = nlohmann::json::array();
    for (const auto& [burden, why] : missing)
        list.push_back({{"setting", nameOf(burden)}, {"reason", why}});
    return list;
}

/// All that are measured, ready at the same time, so that nothing but the measurement lies between two of
/// them.
class Subjects {
public:
    Subjects(const TenantsPlan& plan, const TenantsOptions& options, UnderTest& machine, Watcher& watcher)
        : plan_(plan), machine_(machine) {
        for (const auto& one : plan.cases) {
            watcher.progress(fmt::format("preparing {}", one.subject), 0, 1);
            if (watcher.interrupted())
                break;
            prepare(one, options);
        }
    }
    [[nodiscard]] const std::string& whyNot(std::size_t number) const { return reasons_.at(number); }
    [[nodiscard]] bool complete() const { return reasons_.size() == plan_.cases.size(); }
    [[nodiscard]] Result<Reading> measure(std::size_t number, double seconds) {
        return subjects_.at(number)->measure(plan_.cases.at(number).size, seconds);
    }

private:
    void prepare(const TenantsCase& one, const TenantsOptions& options) {
        // Droppers do not care how large frames are.
        if (one.checksums != 0)
            for (std::size_t i = 0; i < subjects_.size(); i++)
                if (plan_.cases[i].subject == one.subject && plan_.cases[i].checksums == one.checksums) {
                    subjects_.push_back(subjects_[i]);
                    reasons_.push_back(reasons_[i]);
                    return;
                }
        auto made = make(one, options);
        subjects_.push_back(made ? std::shared_ptr<Subject>(std::move(*made)) : nullptr);
        reasons_.push_back(made ? "" : made.error().sentence());
    }
    [[nodiscard]] Result<std::unique_ptr<Subject>> make(const TenantsCase& one,
                                                        const TenantsOptions& options) const {
        if (one.checksums != 0)
            return machine_.makeDropper(one.subject, one.checksums);
        auto cabling = options.cabling;
        cabling.dut = options.forwardAs;
        if (cabling.cabled() && options.forwardAs.empty())
            return fail(
                "who forwards is between two cables: --rx is the end of the other one, and --forward-as "
                "has the machine in between forward");
        return makeForwarder(one.subject, one.size, options.tnad, cabling);
    }
    const TenantsPlan& plan_;
    UnderTest& machine_;
    std::vector<std::shared_ptr<Subject>> subjects_;
    std::vector<std::string> reasons_;
};

/// What a round beside some neighbours finds.
class Run {
public:
    Run(const TenantsOptions& options, const TenantsPlan& plan, Watcher& watcher, Journal& journal,
        Subjects& subjects, UnderTest& machine)
        : options_(options), plan_(plan), watcher_(watcher), journal_(journal), subjects_(subjects),
          machine_(machine), left_(plan.seconds()) {}

    static std::string keyOf(unsigned round, std::size_t beside, std::size_t number) {
        return fmt::format("{}/{}/{}", round, beside, number);
    }
    /// False if interrupted.
    Result<bool> round(unsigned number) {
        std::vector<std::size_t> order(plan_.neighbours.size());
        for (std::size_t i = 0; i < order.size(); i++)
            order[i] = i;
        std::mt19937 random{number}; // the same order each time, so that a run can go on
        std::ranges::shuffle(order, random);
        for (const auto beside : order) {
            auto done = besideThose(number, beside);
            if (!done || !*done)
                return done;
            left_.done(plan_.secondsOf(plan_.neighbours[beside]), before_);
        }
        return true;
    }

private:
    Result<bool> besideThose(unsigned round, std::size_t beside) {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < plan_.cases.size(); i++)
            if (subjects_.whyNot(i).empty() && journal_.find(keyOf(round, beside, i)) == nullptr)
                open.push_back(i);
        before_ = open.empty();
        if (before_)
            return true;
        const auto& neighbours = plan_.neighbours[beside];
        const auto what = neighbours.count == 0
                              ? "without tenants"
                              : fmt::format("{} tenants: {}", neighbours.count, nameOf(neighbours.burden));
        watcher_.progress(fmt::format("round {} of {}, {}, {} left", round + 1, plan_.rounds, what,
                                      durationText(left_.seconds())),
                          round, plan_.rounds);
        Result<std::unique_ptr<Company>> tenants{nullptr};
        if (neighbours.count != 0)
            tenants = machine_.startTenants(neighbours.burden, neighbours.count,
                                            4 * plan_.secondsOf(neighbours) + 120);
        std::mt19937 random{round * 1000 + static_cast<unsigned>(beside)};
        std::ranges::shuffle(open, random);
        for (const auto number : open) {
            if (watcher_.interrupted())
                return false;
            auto found = tenants ? one(number, *tenants)
                                 : nlohmann::json{{"not_measured", tenants.error().sentence()}};
            if (watcher_.interrupted())
                return false;
            if (auto added = journal_.add(keyOf(round, beside, number), std::move(found)); !added)
                return std::unexpected(added.error());
        }
        return true;
    }

    nlohmann::json one(std::size_t number, const std::unique_ptr<Company>& tenants) {
        const auto reading = subjects_.measure(number, options_.seconds);
        if (!reading)
            return {{"not_measured", reading.error().sentence()}};
        return tenantsRun(*reading, tenants ? tenants->running() : 0);
    }

    const TenantsOptions& options_;
    const TenantsPlan& plan_;
    Watcher& watcher_;
    Journal& journal_;
    Subjects& subjects_;
    UnderTest& machine_;
    TimeLeft left_;
    bool before_ = false;
};
} // namespace

double TenantsPlan::secondsOf(const Neighbours& beside) const {
    return secondsPerCase * static_cast<double>(cases.size()) + secondsPerTenant * beside.count;
}

double TenantsPlan::seconds() const {
    double sum = 0;
    for (const auto& beside : neighbours)
        sum += secondsOf(beside);
    return sum * rounds;
}

nlohmann::json tenantsRun(const Reading& reading, unsigned running) {
    return {{"not_measured", nullptr},    {"mpps", reading.mpps()},     {"loss", reading.loss()},
            {"offered", reading.offered}, {"handled", reading.handled}, {"running", running}};
}

MissingTenants missingTenants(const TenantsOptions& options, const UnderTest& machine) {
    MissingTenants missing;
    for (const auto& name : options.burdens)
        if (auto why = machine.whyNoTenants(burdenOf(name)); !why.empty())
            missing.emplace(burdenOf(name), std::move(why));
    return missing;
}

TenantsPlan planTenants(const TenantsOptions& options, const MissingTenants& missing) {
    TenantsPlan plan;
    plan.rounds = options.rounds;
    plan.secondsPerCase = options.seconds + betweenCases;
    plan.secondsPerTenant = startOfTenant;
    for (const auto& name : options.subjects)
        for (const unsigned size : options.sizes) {
            if (!kindOf(name).drops) {
                plan.cases.push_back({name, size, 0});
                continue;
            }
            for (const unsigned times : options.checksums)
                if (name != "linux" || times == 1)
                    plan.cases.push_back({name, size, times});
        }
    plan.neighbours.assign(2, {});
    for (const auto& name : options.burdens)
        for (const unsigned count : options.tenants)
            if (count != 0 && !missing.contains(burdenOf(name)))
                plan.neighbours.push_back({burdenOf(name), count});
    return plan;
}

std::string describe(const TenantsPlan& plan, const TenantsOptions& options, const MissingTenants& missing) {
    auto text =
        fmt::format("{} cases beside {} sets of neighbours, {} rounds: {} measurements of {} s, about {}\n",
                    plan.cases.size(), plan.neighbours.size(), plan.rounds,
                    plan.cases.size() * plan.neighbours.size() * plan.rounds, options.seconds,
                    durationText(plan.seconds()));
    for (const auto& [burden, why] : missing)
        text += fmt::format("missing: tenants that load {}: {}\n", nameOf(burden), why);
    if (options.cabling.dut.empty() && std::thread::hardware_concurrency() < 2)
        text += "what is measured and what offers frames share this machine's only processor\n";
    return text;
}

namespace {
Result<std::unique_ptr<UnderTest>> machineOf(const TenantsOptions& options) {
    return options.cabling.dut.empty() ? makeHere(options.tenancy, options.cabling)
                                       : makeElsewhere(options.cabling);
}
} // namespace

Result<TenantsResult> measureTenants(const TenantsOptions& options, Watcher& watcher,
                                     const AnnounceTenants& announce) {
    auto machine = machineOf(options);
    if (!machine)
        return std::unexpected(machine.error());
    TenantsResult result;
    result.machine = (*machine)->machine();
    result.missing = missingTenants(options, **machine);
    result.plan = planTenants(options, result.missing);
    const auto& plan = result.plan;
    if (!announce(plan, result.missing))
        return result;
    auto journal = Journal::open(options.journal, {{"command", "tenants"},
                                                   {"options", optionsDocument(options)},
                                                   {"missing", missingDocument(result.missing)}});
    if (!journal)
        return std::unexpected(journal.error());
    Subjects subjects{plan, options, **machine, watcher};
    result.complete = subjects.complete();
    if (result.complete) {
        Run run{options, plan, watcher, *journal, subjects, **machine};
        for (unsigned round = 0; round < plan.rounds && result.complete; round++) {
            const auto done = run.round(round);
            if (!done)
                return std::unexpected(done.error());
            result.complete = *done;
        }
    }
    for (std::size_t i = 0; i < plan.cases.size(); i++) {
        result.notMeasured.push_back(result.complete ? subjects.whyNot(i) : "");
        auto& own = result.runs.emplace_back();
        for (std::size_t beside = 0; beside < plan.neighbours.size(); beside++) {
            own.push_back(nlohmann::json::array());
            for (unsigned round = 0; round < plan.rounds; round++)
                if (const auto* found = journal->find(Run::keyOf(round, beside, i)))
                    own.back().push_back(*found);
        }
    }
    return result;
}

nlohmann::json tenantsDocument(const TenantsOptions& options, const nlohmann::json& machine,
                               const TenantsResult& result) {
    nlohmann::json document{{"version", 1},
                            {"command", "tenants"},
                            {"machine", machine},
                            {"machine_under_test", result.machine},
                            {"options", optionsDocument(options)},
                            {"missing", missingDocument(result.missing)},
                            {"complete", result.complete},
                            {"series", nlohmann::json::array()}};
    for (std::size_t i = 0; i < result.runs.size(); i++)
        for (std::size_t beside = 0; beside < result.runs[i].size(); beside++) {
            const auto& one = result.plan.cases[i];
            const auto& neighbours = result.plan.neighbours[beside];
            document["series"].push_back({{"subject", one.subject},
                                          {"frame_size", one.size},
                                          {"checksums", one.checksums},
                                          {"burden", nameOf(neighbours.burden)},
                                          {"tenants", neighbours.count},
                                          {"again", beside == 1},
                                          {"not_measured", textOrNull(result.notMeasured[i])},
                                          {"runs", result.runs[i][beside]}});
        }
    return document;
}

} // namespace tna::bench
