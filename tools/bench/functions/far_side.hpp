// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "bench/functions/cases.hpp"
#include "bench/functions/linux_counter.hpp"
#include "bench/tenants/offer.hpp"

#include <memory>
#include <optional>
#include <sys/types.h>

struct flows;

namespace tna::bench {

/// A pair of veths between two namespaces. Frames are offered at one end and come back to it: there they are
/// counted, and each is compared with what it has to be. At the other end they come to a machine under test,
/// which has a processor of its own, or shares the generator's.
class FarSide {
public:
    [[nodiscard]] static Result<std::unique_ptr<FarSide>> make(const FunctionsCase& one);
    FarSide(const FarSide&) = delete;
    FarSide& operator=(const FarSide&) = delete;
    ~FarSide();

    [[nodiscard]] const DropPlace& place() const { return *place_; }
    [[nodiscard]] std::uint64_t returned() const { return counted(0); }
    /// Frames that are not as they have to be.
    [[nodiscard]] std::uint64_t wrong() const { return counted(1); }
    [[nodiscard]] std::uint64_t offered() const { return counted(2); }
    /// Frames that Linux itself got.
    [[nodiscard]] Result<std::uint64_t> local() { return linux_->frames(); }
    /// Frames per second that are offered; 0: as many as can be.
    void setRate(double rate);
    /// Whether the driver of the machine under test comes before user space, as an interrupt does, or is its
    /// equal: where more is offered than can be handled, it would leave user space nothing.
    [[nodiscard]] Result<void> putDriverFirst(bool first) const;
    [[nodiscard]] Offer offer() const { return Offer{*place_, size_, giveProgram()}; }
    /// Where user space is to run.
    [[nodiscard]] unsigned userCpu() const { return 0; }
    /// Processors that the machine under test uses.
    [[nodiscard]] const std::vector<unsigned>& cpus() const { return cpus_; }
    /// Where the driver of its device works; none: where frames are offered.
    [[nodiscard]] std::optional<pid_t> driverThread() const { return driver_; }

private:
    explicit FarSide(std::unique_ptr<DropPlace> place) : place_(std::move(place)) {}
    [[nodiscard]] Result<void> load(const FunctionsCase& one);
    [[nodiscard]] Result<void> attach();
    [[nodiscard]] Result<void> assignProcessors(const FunctionsCase& one);
    [[nodiscard]] std::uint64_t counted(unsigned which) const;
    [[nodiscard]] int giveProgram() const;
    unsigned size_ = 0;
    std::unique_ptr<DropPlace> place_;
    ::flows* programs_ = nullptr;
    UniqueFd link_;
    std::optional<LinuxCounter> linux_;
    std::vector<unsigned> cpus_;
    std::optional<pid_t> driver_;
};

} // namespace tna::bench
