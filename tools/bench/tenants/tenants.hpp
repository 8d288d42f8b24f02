// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/tenants/control_group.hpp"
#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace tna::bench {

/// What tenants do all the time.
enum class Burden { none, cpu, disk, network };
constexpr std::array<std::string_view, 4> burdenNames{"none", "cpu", "disk", "network"};
[[nodiscard]] constexpr std::string_view nameOf(Burden burden) {
    return burdenNames.at(static_cast<std::size_t>(burden));
}

/// Why this machine cannot have such tenants; empty if it can. With a kernel, those that load processors are
/// virtual machines.
[[nodiscard]] std::string whyNoTenants(Burden burden, const std::string& kernel = {});

/// What is there beside what is measured, for as long as this lives.
class Company {
public:
    virtual ~Company() = default;
    /// Those that still work.
    [[nodiscard]] virtual unsigned running() = 0;
};

/// Neighbours who are busy, each in a control group of its own inside of one for all, as a hypervisor has it.
/// They end with the object, after some time by themselves, and with this program.
class Tenants : public Company {
public:
    /// `folder` is on the disk that they write to; `seconds` is the longest that they may be needed.
    [[nodiscard]] static Result<std::unique_ptr<Tenants>> start(Burden burden, unsigned count,
                                                                const std::string& folder, double seconds,
                                                                const std::string& kernel = {});
    [[nodiscard]] unsigned running() override;
    [[nodiscard]] std::vector<pid_t> processes() const { return group_.processes(); }

private:
    explicit Tenants(ControlGroup group) : group_(std::move(group)) {}
    [[nodiscard]] Result<void> begin(Burden burden, unsigned count, double seconds,
                                     const std::string& kernel);
    [[nodiscard]] Result<void> joinNamespaces();

    std::optional<TemporaryFolder> files_;
    std::vector<OwnNamespace> namespaces_;
    ControlGroup group_;
    std::vector<Process> processes_;
};

} // namespace tna::bench
