// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/backoff.hpp"
#include "base/unique_fd.hpp"
#include "daemon/reporter.hpp"
#include "daemon/wanted.hpp"
#include "daemon/way.hpp"

namespace tna::daemon {

/// The fast path in use, and its exchange as a whole for another one. What is attached stays attached.
class CurrentPath {
public:
    using Time = Way::Time;

    CurrentPath(Kernel& kernel, introspect::NetworkSource& source, const Wanted& wanted, Observed& observed,
                Reporter& reporter)
        : kernel_(kernel), source_(source), wanted_(wanted), observed_(observed), reporter_(reporter) {}

    /// Readable when there is something to be read for it: besides `source`, it may be stations.
    [[nodiscard]] Result<void> watch(int fd);
    [[nodiscard]] int pollFd() const { return poll_.get(); }

    /// Loads the first one, which goes on with what another process has left attached; with room for
    /// connections, or without.
    [[nodiscard]] Result<void> start(std::vector<UniqueFd> inherited, bool withRoom);
    /// Whether it has room for as many connections as it is to learn, which takes much memory.
    [[nodiscard]] bool hasRoom() const { return room_; }
    /// Loads another one, which has; whether it has done that.
    [[nodiscard]] bool makeRoom(Time now);
    /// Where kernel modules came or went, loads another one; whether it has.
    [[nodiscard]] bool followKernelModules(Time now);
    /// Where reading in place is wrong about one thing, nothing that it says is believed; whether another way
    /// has taken its place.
    [[nodiscard]] bool fallBack(const std::string& why);
    /// What is not known as a whole closes the fast path before anything is written because of it.
    void inform(bool informed);
    /// Custom modules came or went; see DataPath::setModules().
    void useModules() { dataPath().setModules(wanted_.modules.byIdentity()); }

    [[nodiscard]] Way& way() const { return *way_; }
    [[nodiscard]] deploy::DataPath& dataPath() const { return way_->dataPath(); }

private:
    [[nodiscard]] Result<Loaded> load() const;
    void adopt(Loaded loaded);

    Kernel& kernel_;
    introspect::NetworkSource& source_;
    const Wanted& wanted_;
    Observed& observed_;
    Reporter& reporter_;
    UniqueFd poll_;
    std::unique_ptr<Way> way_;
    Kernel::Modules modules_; ///< for which it was loaded
    Kernel::Modules modulesTried_;
    Backoff retryModules_; ///< for those
    bool room_ = false;
    Backoff retryRoom_;
};

} // namespace tna::daemon
