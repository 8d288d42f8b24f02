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
} // namespace

DeviceKnobs::DeviceKnobs(DeviceKnobs&& other) noexcept
    : where_(other.where_), device_(std::move(other.device_)),
      whyNoCoalescing_(std::move(other.whyNoCoalescing_)), found_(std::exchange(other.found_, {})),
      deferFound_(std::exchange(other.deferFound_, {})) {}

Result<DeviceKnobs> DeviceKnobs::open(const NetNamespace& where, const std::string& device) {
    DeviceKnobs made{where, device};
    const auto inside = NamespaceScope::enter(where);
    if (!inside)
        return std::unexpected(inside.error());
    ethtool_coalesce found{};
    found.cmd = ETHTOOL_GCOALESCE;
    if (auto asked = coalesceCall(device, found); !asked)
        made.whyNoCoalescing_ = asked.error().sentence();
    else
        made.found_ = found;
    auto read = withSysfsOf(where, [&]() -> Result<void> {
        const auto folder = fmt::format("/sys/class/net/{}/", device);
        auto interrupts = readFile(folder + "napi_defer_hard_irqs");
        auto timeout = readFile(folder + "gro_flush_timeout");
        if (!interrupts || !timeout)
            return std::unexpected(interrupts ? timeout.error() : interrupts.error());
        made.deferFound_.emplace(trimmed(*interrupts), trimmed(*timeout));
        return {};
    });
    if (!read)
        return std::unexpected(read.error());
    return made;
}

DeviceKnobs::~DeviceKnobs() {
    if (found_)
        (void)coalesce(true, true);
    if (deferFound_)
        (void)defer(deferFound_->first, deferFound_->second);
}

Result<void> DeviceKnobs::apply(Settings settings) {
    if (found_)
        if (auto set = coalesce(settings.has(Knob::rxCoalescing), settings.has(Knob::txCoalescing)); !set)
            return set;
    return settings.has(Knob::busyPoll) ? defer(deferredInterrupts, flushTimeout)
                                        : defer(deferFound_->first, deferFound_->second);
}

Result<void> DeviceKnobs::defer(const std::string& interrupts, const std::string& nanoseconds) const {
    return withSysfsOf(*where_, [&]() -> Result<void> {
        const auto folder = fmt::format("/sys/class/net/{}/", device_);
        if (auto set = writeFile(folder + "napi_defer_hard_irqs", interrupts); !set)
            return set;
        return writeFile(folder + "gro_flush_timeout", nanoseconds);
    });
}

Result<void> DeviceKnobs::coalesce(bool rx, bool tx) const {
    const auto inside = NamespaceScope::enter(*where_);
    if (!inside)
        return std::unexpected(inside.error());
    auto values = *found_;
    values.cmd = ETHTOOL_SCOALESCE;
    if (!rx) {
        values.rx_coalesce_usecs = 0;
        values.use_adaptive_rx_coalesce = 0;
    }
    if (!tx) {
        values.tx_coalesce_usecs = 0;
        values.use_adaptive_tx_coalesce = 0;
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
