// SPDX-License-Identifier: Apache-2.0
// The part of the controller that exchanges the fast path as a whole.
#include "capability/kernel.hpp"
#include "capability/modules.hpp"
#include "daemon/controller.hpp"
#include "daemon/views.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/chrono.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>

namespace tna::daemon {

void Controller::adopt(Loaded loaded) {
    if (loaded_.fastPath) {
        loaded.fastPath->inherit(loaded_.fastPath->handOver());
        loaded.fastPath->mistrustAs(loaded_.fastPath->mistrust());
    }
    loaded_ = std::move(loaded);
    useCustomModules();
    if (!watched())
        return;
    spdlog::info("the kernel is not read in place, but watched over netlink: {}",
                 capabilities_.inPlaceFdb.detail);
    if (!loaded_.stations) {
        spdlog::info("stations: {}", capabilities_.kfunc.detail);
        return;
    }
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, loaded_.stations->fd(), &event) != 0)
        spdlog::error("cannot wait for stations, they are followed every {}: {}", tick(), errnoText(errno));
    followWatched();
}

/// A module brings types and functions that could not be known before, or takes them away. What was loaded
/// without them leaves its frames to Linux, so there is no hurry.
void Controller::followModules() {
    auto modules = capability::loadedModules();
    if (modules == modules_)
        return;
    const auto now = std::chrono::steady_clock::now();
    if (modules != modulesTried_) {
        modulesTried_ = modules;
        retryModules_.reset(now);
    } else if (!retryModules_.isDue(now)) {
        return;
    }
    auto capabilities = capability::probeKernel();
    if (!capabilities) {
        spdlog::error("{}", capabilities.error().sentence());
        return;
    }
    auto loaded = loadFastPath(config_, loadProbe(config_), *capabilities, seams_.stationsBuffer);
    if (!loaded) {
        spdlog::error("{}; ports stay with what was loaded before", loaded.error().sentence());
        return;
    }
    spdlog::info("kernel modules came or went: the fast path is loaded anew");
    followers_.tell(
        {{"event", "fast-path"}, {"why", "kernel modules came or went"}, {"fdb", fdbWay(*capabilities)}});
    modules_ = std::move(modules);
    capabilities_ = std::move(*capabilities);
    adopt(std::move(*loaded));
    reconcile(now);
}

/// Where reading in place is wrong about one thing, nothing that it says is believed.
void Controller::fallBack(const std::string& why) {
    if (config_.kernel.fdb == "in-place")
        return;
    auto loaded = loadWatched(config_, capabilities_, seams_.stationsBuffer);
    if (!loaded) {
        spdlog::error("{}", loaded.error().sentence());
        return;
    }
    capabilities_.inPlaceFdb = {false, why};
    followers_.tell({{"event", "fast-path"}, {"why", why}, {"fdb", fdbWay(capabilities_)}});
    adopt(std::move(*loaded));
}

} // namespace tna::daemon
