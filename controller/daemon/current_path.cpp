// SPDX-License-Identifier: Apache-2.0
#include "daemon/current_path.hpp"

#include "daemon/views.hpp"

#include <cerrno>
#include <spdlog/fmt/chrono.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>

namespace tna::daemon {

Result<void> CurrentPath::watch(int fd) {
    if (!poll_)
        poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (!poll_ || ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        return failErrno(errno, "cannot watch netlink");
    return {};
}

Result<Loaded> CurrentPath::load() const {
    auto config = wanted_.config;
    if (!room_)
        config.limits.connections = 0;
    return kernel_.load(config);
}

Result<void> CurrentPath::start(std::vector<UniqueFd> inherited, bool withRoom) {
    room_ = withRoom;
    auto modules = kernel_.modules();
    auto loaded = load();
    if (!loaded)
        return std::unexpected(loaded.error());
    modules_ = std::move(modules);
    if (!inherited.empty())
        spdlog::info("{} ports stay attached as the process before has left them", inherited.size());
    loaded->dataPath->attachedPrograms().inherit(std::move(inherited));
    adopt(std::move(*loaded));
    return {};
}

void CurrentPath::adopt(Loaded loaded) {
    if (way_) {
        loaded.dataPath->attachedPrograms().inherit(dataPath().attachedPrograms().handOver());
        loaded.dataPath->selfCheck().mistrustAs(dataPath().selfCheck().mistrust());
    }
    observed_.capabilities = loaded.capabilities;
    way_ = makeWay(std::move(loaded), {kernel_, source_, observed_});
    useModules();
    way_->announce();
    if (way_->fd() < 0)
        return;
    if (auto watched = watch(way_->fd()); !watched)
        spdlog::error("cannot wait for stations, they are followed every {}: {}", way_->interval(),
                      watched.error().cause);
    way_->follow();
}

/// A module brings types and functions that could not be known before, or takes them away. What was loaded
/// without them leaves its frames to Linux, so there is no hurry.
bool CurrentPath::followKernelModules(Time now) {
    auto modules = kernel_.modules();
    if (modules == modules_)
        return false;
    if (modules != modulesTried_) {
        modulesTried_ = modules;
        retryModules_.reset(now);
    } else if (!retryModules_.isDue(now)) {
        return false;
    }
    auto loaded = load();
    if (!loaded) {
        spdlog::error("{}; ports stay with what was loaded before", loaded.error().sentence());
        return false;
    }
    spdlog::info("kernel modules came or went: the fast path is loaded anew");
    reporter_.fastPathExchanged("kernel modules came or went", fdbWay(loaded->capabilities));
    modules_ = std::move(modules);
    adopt(std::move(*loaded));
    return true;
}

bool CurrentPath::makeRoom(Time now) {
    if (room_ || !retryRoom_.isDue(now))
        return false;
    room_ = true;
    auto loaded = load();
    if (!loaded) {
        room_ = false;
        spdlog::error("{}; packets that pass rules are left to Linux", loaded.error().sentence());
        return false;
    }
    spdlog::info("there are rules now: the fast path is loaded anew, with room for connections");
    reporter_.fastPathExchanged("room for connections", fdbWay(loaded->capabilities));
    adopt(std::move(*loaded));
    return true;
}

bool CurrentPath::fallBack(const std::string& why) {
    if (wanted_.config.kernel.fdb == "in-place")
        return false;
    auto loaded = kernel_.loadWatched(wanted_.config, observed_.capabilities);
    if (!loaded) {
        spdlog::error("{}", loaded.error().sentence());
        return false;
    }
    loaded->capabilities.inPlaceFdb = {false, why};
    reporter_.fastPathExchanged(why, fdbWay(loaded->capabilities));
    adopt(std::move(*loaded));
    return true;
}

void CurrentPath::inform(bool informed) {
    observed_.informed = informed;
    if (!informed)
        dataPath().fdb().open(false);
}

} // namespace tna::daemon
