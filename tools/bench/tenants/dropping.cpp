// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/dropping.hpp"

#include "base/file.hpp"
#include "bench/tenants/driver_thread.hpp"
#include "bench/traffic/traffic.hpp"

#include <charconv>
#include <chrono>
#include <sstream>

namespace tna::bench {

double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {
/// Interfaces of this machine are used as they are.
Result<void> prepareDriver(const DropPlace& place) {
    if (place.cabled())
        return {};
    const auto given = giveDriverItsThread(place.device(), place.deviceName());
    return given ? Result<void>{} : std::unexpected(given.error());
}

class XdpDropping : public Dropping {
public:
    explicit XdpDropping(std::shared_ptr<DropPlace> place) : place_(std::move(place)) {}
    Result<Dropped> dropped() override { return Dropped{place_->dropped(), secondsNow()}; }
    Result<void> resume() override {
        const auto inside = NamespaceScope::enter(place_->device());
        if (!inside)
            return std::unexpected(inside.error());
        auto link = attachXdp(place_->workProgram(), place_->deviceName());
        if (!link)
            return std::unexpected(link.error());
        link_ = std::move(*link);
        return {};
    }
    void pause() override { link_.reset(); }

private:
    std::shared_ptr<DropPlace> place_;
    UniqueFd link_;
};

/// The number under a name in a file of /proc/net whose lines are pairs of names and numbers.
Result<std::uint64_t> counterOf(const std::string& text, const std::string& table, const std::string& name) {
    std::istringstream lines{text};
    std::string names, numbers;
    while (std::getline(lines, names) && std::getline(lines, numbers)) {
        std::istringstream left{names}, right{numbers};
        std::string word, number;
        left >> word;
        right >> number;
        if (word != table + ":")
            continue;
        while (left >> word && right >> number)
            if (word == name) {
                std::uint64_t value = 0;
                std::from_chars(number.data(), number.data() + number.size(), value);
                return value;
            }
    }
    return fail("the kernel does not count {}", name);
}

/// Linux itself looks at the checksum before anything else of a packet.
class LinuxDropping : public Dropping {
public:
    explicit LinuxDropping(std::shared_ptr<DropPlace> place) : place_(std::move(place)) {}
    Result<Dropped> dropped() override {
        const auto inside = NamespaceScope::enter(place_->device());
        if (!inside)
            return std::unexpected(inside.error());
        const auto text = readFile("/proc/thread-self/net/netstat");
        if (!text)
            return std::unexpected(text.error());
        const auto frames = counterOf(*text, "IpExt", "InCsumErrors");
        if (!frames)
            return std::unexpected(frames.error());
        return Dropped{*frames, secondsNow()};
    }

private:
    std::shared_ptr<DropPlace> place_;
};
} // namespace

Result<std::unique_ptr<Dropping>> makeDropping(std::string_view name, unsigned times,
                                               std::shared_ptr<DropPlace> place, const std::string& pmd) {
    if (place->deviceName().empty() && name != "dpdk-pmd")
        return fail("Linux has no driver for the device: only dpdk-pmd has");
    if (name.starts_with("dpdk"))
        return makeDpdkDropping(name, times, std::move(place), pmd);
    if (name == "linux" && times != 1)
        return fail("Linux computes the checksum once");
    if (auto prepared = prepareDriver(*place); !prepared)
        return std::unexpected(prepared.error());
    if (name == "xdp")
        return std::make_unique<XdpDropping>(std::move(place));
    if (name == "linux")
        return std::make_unique<LinuxDropping>(std::move(place));
    return fail("'{}' does not drop", name);
}

} // namespace tna::bench
