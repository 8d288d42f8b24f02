// SPDX-License-Identifier: Apache-2.0
#include "daemon/controller.hpp"

#include "config/reload.hpp"
#include "daemon/route_question.hpp"
#include "daemon/trace_lines.hpp"
#include "deploy/kernel/requirements.hpp"
#include "introspect/introspector.hpp"

#include <nlohmann/json.hpp>

namespace tna::daemon {

using nlohmann::json;

Controller::Controller(config::Config config, std::unique_ptr<Kernel> kernel,
                       std::unique_ptr<introspect::NetworkSource> source)
    : wanted_{std::move(config), {}, {}},
      supervisor_(std::move(kernel), std::move(source), wanted_, reporter_),
      modules_(supervisor_, wanted_, reporter_), functions_(supervisor_, wanted_, reporter_),
      moduleRequests_(mutex_, modules_), functionRequests_(mutex_, functions_), traces_(supervisor_, wanted_),
      questions_(supervisor_, wanted_, reporter_) {}

Result<std::unique_ptr<Controller>> Controller::start(config::Config config, Seams seams,
                                                      std::vector<UniqueFd> inherited) {
    if (auto missing = deploy::missingRequirement(deploy::thisMachine()))
        return std::unexpected(std::move(*missing));
    auto kernel = std::make_unique<RealKernel>(std::move(seams));
    auto source = introspect::Introspector::open();
    if (!source)
        return std::unexpected(source.error());
    const int fd = (*source)->pollFd();
    std::unique_ptr<Controller> controller{
        new Controller(std::move(config), std::move(kernel), std::move(*source))};
    if (auto watched = controller->supervisor_.watch(fd); !watched)
        return std::unexpected(watched.error());
    controller->modules_.readDirectory(controller->wanted_.config.modules.directory);
    if (auto started = controller->supervisor_.start(std::move(inherited)); !started)
        return std::unexpected(started.error());
    WayBackLink::removeLeftOver();
    controller->functions_.readDirectory(controller->wanted_.config.functions.directory);
    return controller;
}

Result<void> Controller::onNetlink() {
    const std::lock_guard lock{mutex_};
    auto done = supervisor_.onReadable();
    functions_.follow();
    return done;
}

std::chrono::milliseconds Controller::tick() {
    const std::lock_guard lock{mutex_};
    return supervisor_.interval();
}

void Controller::onTick() {
    const std::lock_guard lock{mutex_};
    supervisor_.onInterval();
    functions_.follow();
}

bool Controller::settled() {
    const std::lock_guard lock{mutex_};
    return supervisor_.dataPath().attachedPrograms().settled();
}

void Controller::settle() {
    const std::lock_guard lock{mutex_};
    supervisor_.dataPath().attachedPrograms().settleNext();
}

std::vector<UniqueFd> Controller::handOver() {
    const std::lock_guard lock{mutex_};
    return supervisor_.dataPath().attachedPrograms().handOver();
}

void Controller::setConfig(Result<config::Config> config) {
    const std::lock_guard lock{mutex_};
    if (!config)
        return reporter_.configurationRefused(config.error());
    auto reloaded = config::reloaded(wanted_.config, std::move(*config));
    wanted_.config = std::move(reloaded.config);
    modules_.readDirectory(wanted_.config.modules.directory);
    supervisor_.useModules();
    supervisor_.readAllAgain();
    supervisor_.reconcile();
    functions_.readDirectory(wanted_.config.functions.directory);
    reporter_.configurationRead(reloaded.atNextStart);
}

bool Controller::pause(const std::optional<std::string>& port, bool paused) {
    const std::lock_guard lock{mutex_};
    if (!pausePorts(wanted_.paused, supervisor_.plan(), port, paused))
        return false;
    if (!paused)
        supervisor_.trustAgain();
    reporter_.paused(port, paused);
    if (!paused)
        supervisor_.readAllAgain();
    supervisor_.reconcile();
    return true;
}

std::string Controller::summary() {
    const std::lock_guard lock{mutex_};
    return questions_.summary();
}

json Controller::status() {
    const std::lock_guard lock{mutex_};
    auto document = questions_.status();
    document["functions"] = functions_.summary();
    return document;
}

json Controller::events() {
    const std::lock_guard lock{mutex_};
    return questions_.events();
}

std::optional<json> Controller::port(const std::string& name) {
    std::optional<json> document;
    std::set<std::uint32_t> own;
    bool hidden = false;
    {
        const std::lock_guard lock{mutex_};
        document = questions_.port(name);
        hidden = supervisor_.observed().capabilities.brNetfilterHidden;
        own = supervisor_.connections().programs();
    }
    if (document) {
        addFunctionsInTheWay(*document, own);
        if (hidden)
            addHiddenFunctions(*document);
        addConnectionsInTheWay(*document);
    }
    return document;
}

Result<json> Controller::route(const std::string& port, const std::string& from, const std::string& to) {
    const std::lock_guard lock{mutex_};
    return answerRoute(supervisor_, port, from, to);
}

json Controller::graph() {
    const std::lock_guard lock{mutex_};
    return questions_.graph();
}

json Controller::capabilities() {
    const std::lock_guard lock{mutex_};
    return questions_.capabilities();
}

json Controller::rules() {
    std::set<std::string> legacyTables;
    std::set<std::uint32_t> own;
    {
        const std::lock_guard lock{mutex_};
        own = supervisor_.connections().programs();
        legacyTables = supervisor_.network().netfilter.legacyTables;
    }
    auto answer = ruleQuestion_.answer(legacyTables, own);
    const std::lock_guard lock{mutex_};
    answer["learning"] = viewLearning(supervisor_.connections(), wanted_.config.limits.connections);
    return answer;
}

Result<std::shared_ptr<void>> Controller::trace(const api::TraceWish& wish,
                                                const std::shared_ptr<api::LineSink>& lines) {
    {
        const std::lock_guard lock{mutex_};
        if (auto possible = traces_.check(wish.port); !possible)
            return std::unexpected(possible.error());
    }
    // What the kernel needs for verifying is not to keep the network waiting.
    auto tracer = deploy::Tracer::load(wish.oneIn);
    if (!tracer)
        return std::unexpected(tracer.error());
    const std::lock_guard lock{mutex_};
    auto name = traces_.begin(tracer->module(), wish);
    if (!name)
        return std::unexpected(name.error());
    return std::make_shared<TraceLines>(std::move(*tracer), lines, [this, name = std::move(*name)] {
        const std::lock_guard atEnd{mutex_};
        traces_.end(name);
    });
}

} // namespace tna::daemon
