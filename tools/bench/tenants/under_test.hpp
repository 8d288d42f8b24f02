// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/tenants/dropping.hpp"
#include "bench/tenants/subject.hpp"
#include "bench/tenants/tenants.hpp"
#include "bench/testbed/cabling.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

/// What the machine under test is told once.
struct Tenancy {
    std::string disk = "/tmp"; ///< where tenants write
    std::string vm;            ///< a kernel for virtual machines that load processors; none: processes
    std::string pmd;           ///< the words by which DPDK finds a device that it has a driver of its own for
};

/// The machine that drops frames and has tenants: this one, or another one.
class UnderTest {
public:
    virtual ~UnderTest() = default;
    /// Null for this one.
    [[nodiscard]] virtual nlohmann::json machine() const { return nullptr; }
    [[nodiscard]] virtual std::string whyNoTenants(Burden burden) const = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<Company>> startTenants(Burden burden, unsigned count,
                                                                        double seconds) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<Subject>> makeDropper(const std::string& name,
                                                                       unsigned times) = 0;
};

[[nodiscard]] std::unique_ptr<UnderTest> makeHere(const Tenancy& tenancy, const Cabling& cabling);
/// By a command that runs `tna-bench tenants --drop INTERFACE` there, at the far end of the cable.
[[nodiscard]] Result<std::unique_ptr<UnderTest>> makeElsewhere(const Cabling& cabling);

/// What such a command does, until its standard input ends: a line of JSON is a question, and so is the
/// answer.
[[nodiscard]] Result<void> serveUnderTest(const std::string& device, const Tenancy& tenancy);

} // namespace tna::bench
