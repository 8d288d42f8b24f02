// SPDX-License-Identifier: Apache-2.0
#include "base/net_namespace.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>

namespace tna {

namespace {
Result<UniqueFd> openNamespace(const std::string& path) {
    UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd)
        return failErrno(errno, "cannot open network namespace {}", path);
    return fd;
}
} // namespace

Result<NetNamespace> NetNamespace::current() {
    auto fd = openNamespace("/proc/thread-self/ns/net");
    if (!fd)
        return std::unexpected(fd.error());
    return NetNamespace{std::move(*fd), "the current namespace"};
}

Result<NetNamespace> NetNamespace::named(const std::string& name) {
    auto fd = openNamespace("/run/netns/" + name);
    if (!fd)
        return std::unexpected(std::move(fd.error()).withHint("`ip netns list` shows those that exist"));
    return NetNamespace{std::move(*fd), name};
}

Result<void> NetNamespace::enter() const {
    if (::setns(fd_.get(), CLONE_NEWNET) != 0)
        return failErrno(errno, "cannot enter network namespace {}", label_);
    return {};
}

Result<NamespaceScope> NamespaceScope::enter(const NetNamespace& target) {
    auto home = NetNamespace::current();
    if (!home)
        return std::unexpected(home.error());
    if (auto entered = target.enter(); !entered)
        return std::unexpected(entered.error());
    return NamespaceScope{std::move(*home)};
}

NamespaceScope::~NamespaceScope() {
    // A thread that cannot get home would act on the wrong network: there is no safe way to go on.
    if (home_.fd() >= 0 && !home_.enter())
        std::abort();
}

} // namespace tna
