// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "introspect/introspector.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>

namespace tna::test {

/// A network namespace with a random name, gone at the end; commands run inside of it.
class Namespace {
public:
    Namespace();
    ~Namespace();
    Namespace(const Namespace&) = delete;
    Namespace& operator=(const Namespace&) = delete;

    [[nodiscard]] bool usable() const { return made_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Runs a shell command in the namespace; true if it succeeded.
    [[nodiscard]] bool run(const std::string& command) const;

private:
    std::string name_;
    bool made_ = false;
};

/// A namespace, and an introspector opened in it.
class IntrospectTest : public ::testing::Test {
protected:
    void SetUp() override;

    void open(const introspect::Options& options = {});
    /// Runs a shell command in the namespace; throws if it failed, which ends the test as failed.
    void run(const std::string& command) const;
    /// The same, for what a kernel may lack.
    [[nodiscard]] bool tryRun(const std::string& command) const { return ns_->run(command + " 2>/dev/null"); }
    /// Processes announcements until the condition holds; false after a deadline.
    [[nodiscard]] bool eventually(const std::function<bool(const model::Network&)>& condition);
    [[nodiscard]] const model::Network& network() const { return introspector_->network(); }
    [[nodiscard]] const model::Link* link(const std::string& name) const {
        return network().linkByName(name);
    }
    /// What an introspector opened now sees.
    [[nodiscard]] model::Network fresh() const;

    std::optional<Namespace> ns_;
    std::unique_ptr<introspect::Introspector> introspector_;
    introspect::Changes last_; ///< all that the last eventually() reported
};

} // namespace tna::test
