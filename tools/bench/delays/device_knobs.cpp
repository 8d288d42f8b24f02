// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/device_knobs.hpp"

#include "base/file.hpp"
#include "bench/testbed/sysfs.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <tuple>

namespace tna::bench {

namespace {
/// The kernel's documentation of AF_XDP recommends these.
constexpr const char* deferredInterrupts = "2";
constexpr const char* flushTimeout = "200000";

Result<void> coalesceCall(const std::string& device, ethtool_coalesce& values) {
    const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&values);
    if (!socket || ::ioctl(socket.get(), SIOCETHTOOL, &request) != 0)
        return failErrno(errno, "the driver of {} has no coalescing", device);
    return {};
}

std::string trimmed(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

// Both of the calling thread's namespace, and its /sys.

Result<std::pair<std::string, std::string>> readDeferral(const std::string& device) {
    const auto folder = fmt::format("/sys/class/net/{}/", device);
    const auto interrupts = readFile(folder + "napi_defer_hard_irqs");
    const auto timeout = readFile(folder + "gro_flush_timeout");
    if (!interrupts || !timeout)
        return std::unexpected(interrupts ? timeout.error() : interrupts.error());
    return std::pair{trimmed(*interrupts), trimmed(*timeout)};
}

Result<void> writeDeferral(const std::string& device, const std::string& interrupts,
                           const std::string& nanoseconds) {
    const auto folder = fmt::format("/sys/class/net/{}/", device);
    if (auto set = writeFile(folder + "napi_defer_hard_irqs", interrupts); !set)
        return set;
    return writeFile(folder + "gro_flush_timeout", nanoseconds);
}

/// Of one direction: its time, and whether the driver chooses it.
std::pair<__u32&, __u32&> valuesOf(ethtool_coalesce& values, Knob direction) {
    if (direction == Knob::rxCoalescing)
        return {values.rx_coalesce_usecs, values.use_adaptive_rx_coalesce};
    return {values.tx_coalesce_usecs, values.use_adaptive_tx_coalesce};
}
} // namespace

DeviceKnobs::DeviceKnobs(DeviceKnobs&& other) noexcept
    : where_(other.where_), device_(std::move(other.device_)),
      whyNoCoalescing_(std::move(other.whyNoCoalescing_)), found_(std::exchange(other.found_, {})),
      will_(std::move(other.will_)) {}

Result<DeviceKnobs> DeviceKnobs::open(const NetNamespace& where, const std::string& device) {
    DeviceKnobs made{where, device};
    if (auto found = made.find(); !found)
        return std::unexpected(found.error());
    if (auto left = made.leaveWill(); !left)
        return std::unexpected(left.error());
    if (made.found_->coalesce) {
        made.whyNoCoalescing_.rx = made.tryOut(Knob::rxCoalescing);
        made.whyNoCoalescing_.tx = made.tryOut(Knob::txCoalescing);
    }
    return made;
}

Result<void> DeviceKnobs::find() {
    const auto inside = NamespaceScope::enter(*where_);
    if (!inside)
        return std::unexpected(inside.error());
    Found found;
    ethtool_coalesce values{};
    values.cmd = ETHTOOL_GCOALESCE;
    if (auto asked = coalesceCall(device_, values); !asked)
        whyNoCoalescing_.rx = whyNoCoalescing_.tx = asked.error().sentence();
    else
        found.coalesce = values;
    auto read = withSysfsOf(*where_, [&]() -> Result<void> {
        auto deferral = readDeferral(device_);
        if (!deferral)
            return std::unexpected(deferral.error());
        std::tie(found.interrupts, found.timeout) = std::move(*deferral);
        return {};
    });
    if (read)
        found_ = std::move(found);
    return read;
}

Result<void> DeviceKnobs::leaveWill() {
    auto will = LastWill::leave([this]() -> Result<LastWill::Execute> {
        if (auto moved = moveToSysfsOf(*where_); !moved)
            return std::unexpected(moved.error());
        return [device = device_, found = *found_]() mutable {
            (void)writeDeferral(device, found.interrupts, found.timeout);
            if (found.coalesce) {
                found.coalesce->cmd = ETHTOOL_SCOALESCE;
                (void)coalesceCall(device, *found.coalesce);
            }
        };
    });
    if (!will)
        return std::unexpected(will.error());
    will_.emplace(std::move(*will));
    return {};
}

/// Why there would be no difference between on, which is as found, and off.
std::string DeviceKnobs::tryOut(Knob direction) const {
    const auto inside = NamespaceScope::enter(*where_);
    if (!inside)
        return inside.error().sentence();
    auto values = *found_->coalesce;
    values.cmd = ETHTOOL_SCOALESCE;
    const auto [microseconds, adaptive] = valuesOf(values, direction);
    const bool on = microseconds != 0 || adaptive != 0;
    microseconds = on ? 0 : 1;
    adaptive = 0;
    const auto tried = coalesceCall(device_, values);
    (void)coalesce(true, true);
    if (!tried)
        return tried.error().sentence();
    const char* name = direction == Knob::rxCoalescing ? "rx" : "tx";
    return on ? "" : fmt::format("it is off on {0}: ethtool -C {0} {1}-usecs 50", device_, name);
}

DeviceKnobs::~DeviceKnobs() {
    if (!found_)
        return;
    (void)coalesce(true, true);
    (void)defer(found_->interrupts, found_->timeout);
}

Result<void> DeviceKnobs::apply(Settings settings) {
    if (auto set = coalesce(settings.has(Knob::rxCoalescing), settings.has(Knob::txCoalescing)); !set)
        return set;
    return settings.has(Knob::busyPoll) ? defer(deferredInterrupts, flushTimeout)
                                        : defer(found_->interrupts, found_->timeout);
}

Result<void> DeviceKnobs::defer(const std::string& interrupts, const std::string& nanoseconds) const {
    return withSysfsOf(*where_, [&] { return writeDeferral(device_, interrupts, nanoseconds); });
}

/// On is as found; what cannot be told is left so.
Result<void> DeviceKnobs::coalesce(bool rx, bool tx) const {
    if (!found_->coalesce)
        return {};
    const auto inside = NamespaceScope::enter(*where_);
    if (!inside)
        return std::unexpected(inside.error());
    auto values = *found_->coalesce;
    values.cmd = ETHTOOL_SCOALESCE;
    for (const auto& [direction, on] : {std::pair{Knob::rxCoalescing, rx}, {Knob::txCoalescing, tx}}) {
        if (on || !whyNoCoalescing(direction).empty())
            continue;
        const auto [microseconds, adaptive] = valuesOf(values, direction);
        microseconds = adaptive = 0;
    }
    return coalesceCall(device_, values);
}

std::string IdleKnob::whyMissing() {
    if (!std::filesystem::exists("/dev/cpu_dma_latency"))
        return "there is no /dev/cpu_dma_latency";
    if (!std::filesystem::exists("/sys/devices/system/cpu/cpu0/cpuidle/state1"))
        return "processors have no states to sleep in (cpuidle)";
    return {};
}

Result<void> IdleKnob::apply(bool deep) {
    held_.reset();
    if (deep)
        return {};
    held_.reset(::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC));
    // No state is so quick that it takes no time to leave it.
    const std::int32_t microseconds = 0;
    if (!held_ || ::write(held_.get(), &microseconds, sizeof(microseconds)) != sizeof(microseconds))
        return failErrno(errno, "cannot keep processors from sleeping");
    return {};
}

} // namespace tna::bench
