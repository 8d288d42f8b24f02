// SPDX-License-Identifier: Apache-2.0
#include "namespace.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <unistd.h>

namespace tna::test {

namespace {

constexpr auto deadline = std::chrono::seconds(20);

std::unique_ptr<introspect::Introspector> openIn(const std::string& name,
                                                 const introspect::Options& options) {
    auto target = NetNamespace::named(name);
    if (!target)
        return nullptr;
    const auto scope = NamespaceScope::enter(*target);
    if (!scope)
        return nullptr;
    auto opened = introspect::Introspector::open(options);
    if (!opened) {
        ADD_FAILURE() << opened.error().sentence();
        return nullptr;
    }
    return std::move(*opened);
}

} // namespace

Namespace::Namespace() : name_(fmt::format("tna-intro-{:x}", std::random_device{}())) {
    made_ = geteuid() == 0 && std::system(("ip netns add " + name_ + " 2>&1").c_str()) == 0;
}

Namespace::~Namespace() {
    if (made_ && std::system(("ip netns del " + name_).c_str()) != 0)
        ADD_FAILURE() << "cannot delete " << name_;
}

bool Namespace::run(const std::string& command) const {
    return std::system(("exec ip netns exec " + name_ + " sh -ec '" + command + "'").c_str()) == 0;
}

void IntrospectTest::SetUp() {
    ns_.emplace();
    if (!ns_->usable())
        GTEST_SKIP() << "cannot make a network namespace (not root?)";
}

void IntrospectTest::run(const std::string& command) const {
    if (!ns_->run(command))
        throw std::runtime_error("failed: " + command);
}

void IntrospectTest::open(const introspect::Options& options) {
    introspector_ = openIn(ns_->name(), options);
    ASSERT_NE(introspector_, nullptr);
}

model::Network IntrospectTest::fresh() const {
    const auto other = openIn(ns_->name(), {});
    return other ? other->network() : model::Network{};
}

bool IntrospectTest::eventually(const std::function<bool(const model::Network&)>& condition) {
    last_ = {};
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (;;) {
        const auto changes = introspector_->process();
        if (!changes) {
            ADD_FAILURE() << changes.error().sentence();
            return false;
        }
        last_.any |= changes->any;
        last_.counts |= changes->counts;
        last_.resynced |= changes->resynced;
        last_.links.insert(changes->links.begin(), changes->links.end());
        if (condition(introspector_->network()))
            return true;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0)
            return false;
        pollfd waiting{introspector_->pollFd(), POLLIN, 0};
        if (poll(&waiting, 1, static_cast<int>(left.count())) < 0)
            return false;
    }
}

} // namespace tna::test
