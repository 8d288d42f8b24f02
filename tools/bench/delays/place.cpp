// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/place.hpp"

#include "bench/testbed/devices.hpp"
#include "bench/testbed/process.hpp"

namespace tna::bench {

namespace {
constexpr const char* proberAddress = "198.18.0.1";
constexpr const char* forwarderAddress = "198.18.0.2";
} // namespace

Result<std::unique_ptr<Place>> Place::make(const Cabling& cabling, const std::string& address) {
    std::unique_ptr<Place> place{new Place};
    if (auto made = cabling.cabled() ? place->use(cabling, address) : place->build(); !made)
        return std::unexpected(made.error());
    if (auto opened = place->openDevice(); !opened)
        return std::unexpected(opened.error());
    return place;
}

Result<void> Place::build() {
    for (const char* role : {"p", "f"}) {
        auto made = OwnNamespace::make(role);
        if (!made)
            return std::unexpected(made.error());
        namespaces_.push_back(std::move(*made));
    }
    const auto &p = namespaces_[0].name(), &f = namespaces_[1].name();
    for (const auto& words :
         {fmt::format("ip -n {} link add p0 type veth peer name f0 netns {}", p, f),
          // A far end takes what comes out of an XDP program only with NAPI.
          fmt::format("ip netns exec {} ethtool -K p0 gro on", p),
          fmt::format("ip netns exec {} ethtool -K f0 gro on", f),
          fmt::format("ip -n {} address add {}/30 dev p0", p, proberAddress),
          fmt::format("ip -n {} address add {}/30 dev f0", f, forwarderAddress),
          fmt::format("ip -n {} link set p0 up", p), fmt::format("ip -n {} link set f0 up", f)})
        if (auto done = runCommand(words); !done)
            return done;
    auto end = makeFarEnd(namespaces_[1].handle(), "f0", forwarderAddress);
    if (!end)
        return std::unexpected(end.error());
    farEnd_ = std::move(*end);
    return {};
}

Result<void> Place::use(const Cabling& cabling, const std::string& address) {
    auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    here_.emplace(std::move(*here));
    device_ = cabling.tx;
    auto end =
        cabling.dut.empty() ? makeFarEnd(*here_, cabling.rx, "") : makeFarEndElsewhere(cabling.dut, address);
    if (!end)
        return std::unexpected(end.error());
    farEnd_ = std::move(*end);
    return {};
}

Result<void> Place::openDevice() {
    auto opened = DeviceKnobs::open(where(), device_);
    const auto inside = NamespaceScope::enter(where());
    if (!opened || !inside)
        return std::unexpected(opened ? inside.error() : opened.error());
    knobs_.emplace(std::move(*opened));
    const auto mac = macOf(device_);
    if (!mac)
        return std::unexpected(mac.error());
    mac_ = *mac;
    return {};
}

std::vector<MissingKnob> Place::missing() {
    std::vector<MissingKnob> list;
    const auto tryOut = [&](Knob knob) {
        const auto inside = NamespaceScope::enter(where());
        Settings settings = usualSettings();
        settings.set(knob, true);
        const auto tried = inside ? FrameSocket::tryOut(device_, settings) : std::unexpected(inside.error());
        return tried ? std::string{} : tried.error().sentence();
    };
    const auto note = [&](Knob knob, std::string why) {
        if (why.empty())
            why = knob == Knob::deepIdle ? "" : farEnd_->whyMissing(knob);
        if (!why.empty())
            list.push_back({knob, std::move(why)});
    };
    note(Knob::zeroCopy, tryOut(Knob::zeroCopy));
    note(Knob::busyPoll, tryOut(Knob::busyPoll));
    note(Knob::deepIdle, IdleKnob::whyMissing());
    note(Knob::rxCoalescing, knobs_->whyNoCoalescing(Knob::rxCoalescing));
    note(Knob::txCoalescing, knobs_->whyNoCoalescing(Knob::txCoalescing));
    return list;
}

Result<void> Place::apply(Settings settings) {
    if (auto applied = knobs_->apply(settings); !applied)
        return applied;
    return idle_.apply(settings.has(Knob::deepIdle));
}

} // namespace tna::bench
