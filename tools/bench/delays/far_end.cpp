// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/far_end.hpp"

#include "bench/delays/device_knobs.hpp"
#include "bench/delays/forwarder.hpp"
#include "bench/delays/hook.hpp"
#include "bench/testbed/devices.hpp"

#include <algorithm>
#include <sstream>

namespace tna::bench {

namespace {
/// A device of this machine.
class Here : public FarEnd {
public:
    Here(const NetNamespace& where, std::string device, std::string address, DeviceKnobs knobs,
         std::array<unsigned char, 6> mac)
        : where_(where), device_(std::move(device)), address_(std::move(address)), knobs_(std::move(knobs)),
          mac_(mac) {}
    Result<Running> forward(Settings settings) override {
        if (auto applied = knobs_.apply(settings); !applied)
            return std::unexpected(applied.error());
        auto hook = Hook::attach(where_, device_, Hook::Does::toSocket);
        if (!hook)
            return std::unexpected(hook.error());
        auto helper = startForwarder(where_, device_, settings, hook->sockets());
        if (!helper)
            return std::unexpected(helper.error());
        return std::make_shared<std::pair<Hook, Helper>>(std::move(*hook), std::move(*helper));
    }
    Result<Running> echo() override {
        if (auto applied = knobs_.apply(usualSettings()); !applied)
            return std::unexpected(applied.error());
        auto hook = Hook::attach(where_, device_, Hook::Does::echo);
        if (!hook)
            return std::unexpected(hook.error());
        return std::make_shared<Hook>(std::move(*hook));
    }
    Result<Running> echoUdp() override {
        auto helper = startUdpEcho(where_, address_);
        if (!helper)
            return std::unexpected(helper.error());
        return std::make_shared<Helper>(std::move(*helper));
    }
    std::string address() const override { return address_; }
    const std::array<unsigned char, 6>& mac() const override { return mac_; }
    std::string whyMissing(Knob knob) override {
        if (knob == Knob::rxCoalescing || knob == Knob::txCoalescing)
            return knobs_.whyNoCoalescing(knob);
        const auto inside = NamespaceScope::enter(where_);
        Settings settings = usualSettings();
        settings.set(knob, true);
        const auto tried = inside ? FrameSocket::tryOut(device_, settings) : std::unexpected(inside.error());
        return tried ? "" : tried.error().sentence();
    }

private:
    const NetNamespace& where_;
    std::string device_;
    std::string address_;
    DeviceKnobs knobs_;
    std::array<unsigned char, 6> mac_;
};
} // namespace

Result<std::unique_ptr<FarEnd>> makeFarEnd(const NetNamespace& where, const std::string& device,
                                           const std::string& address) {
    auto opened = DeviceKnobs::open(where, device);
    const auto inside = NamespaceScope::enter(where);
    if (!opened || !inside)
        return std::unexpected(opened ? inside.error() : opened.error());
    const auto mac = macOf(device);
    if (!mac)
        return std::unexpected(mac.error());
    return std::make_unique<Here>(where, device, address, std::move(*opened), *mac);
}

std::string wordOf(Settings settings) {
    std::string word;
    for (const auto& [knob, name, words] : knobs)
        if (settings.has(knob))
            word += fmt::format("{}{}", word.empty() ? "" : ",", name);
    return word.empty() ? "none" : word;
}

std::optional<Settings> settingsOf(const std::string& word) {
    Settings settings;
    std::istringstream parts{word == "none" ? "" : word};
    for (std::string part; std::getline(parts, part, ',');) {
        const auto* const known = std::ranges::find(knobs, part, &KnobWords::name);
        if (known == knobs.end())
            return {};
        settings.set(known->knob, true);
    }
    return settings;
}

} // namespace tna::bench
