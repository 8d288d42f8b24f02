// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

#include <string>

namespace tna::test {

/// An object that was built along with the tests.
[[nodiscard]] std::string moduleObject(const std::string& name);
[[nodiscard]] std::string exampleObject(const std::string& name);

/// The frame with another UDP destination port; its checksum is nobody's business here.
[[nodiscard]] Frame toUdpPort(Frame frame, unsigned port);

/// A row of the counters that a module has at a hook: {"continue": 3, ...} without zeros.
using Said = std::map<std::string, std::uint64_t>;

/// What tests of custom modules ask of a controller.
class ModuleControl {
public:
    explicit ModuleControl(std::unique_ptr<daemon::Controller>& controller) : controller_(controller) {}
    void insert(const std::string& name, const std::string& object, const api::Placement& placement = {});
    void replace(const std::string& name, const std::string& object, const api::Placement& placement = {});
    void remove(const std::string& name);
    [[nodiscard]] Said said(const std::string& name, const std::string& hook) const;
    /// The descriptor of a map of the module's own.
    [[nodiscard]] UniqueFd map(const std::string& name, const std::string& map) const;

private:
    std::unique_ptr<daemon::Controller>& controller_;
};

} // namespace tna::test
