// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/place.hpp"

#include "bench/testbed/process.hpp"

#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr const char* proberAddress = "198.18.0.1";
constexpr const char* forwarderAddress = "198.18.0.2";

Result<void> readMac(const Place::End& end, std::array<unsigned char, 6>& mac) {
    const auto inside = NamespaceScope::enter(*end.where);
    if (!inside)
        return std::unexpected(inside.error());
    const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    std::strncpy(request.ifr_name, end.device.c_str(), IFNAMSIZ - 1);
    if (!socket || ::ioctl(socket.get(), SIOCGIFHWADDR, &request) != 0)
        return failErrno(errno, "cannot read the address of {}", end.device);
    std::memcpy(mac.data(), request.ifr_hwaddr.sa_data, mac.size());
    return {};
}

/// Tried out on a socket that gets no frames.
Result<void> tryOut(const Place::End& end, Knob knob) {
    const auto inside = NamespaceScope::enter(*end.where);
    if (!inside)
        return std::unexpected(inside.error());
    Settings settings = usualSettings();
    settings.set(knob, true);
    return FrameSocket::tryOut(end.device, settings);
}
} // namespace

Result<std::unique_ptr<Place>> Place::make(const Cabling& cabling) {
    std::unique_ptr<Place> place{new Place};
    if (auto made = cabling.cabled() ? place->use(cabling) : place->build(); !made)
        return std::unexpected(made.error());
    if (auto read = place->readMacs(); !read)
        return std::unexpected(read.error());
    for (const auto& end : {place->prober(), place->forwarder()}) {
        auto opened = DeviceKnobs::open(*end.where, end.device);
        if (!opened)
            return std::unexpected(opened.error());
        place->knobs_.push_back(std::move(*opened));
    }
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
    return {};
}

Result<void> Place::use(const Cabling& cabling) {
    auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    here_.emplace(std::move(*here));
    devices_ = {cabling.tx, cabling.rx};
    return {};
}

Result<void> Place::readMacs() {
    if (auto read = readMac(prober(), macs_.prober); !read)
        return read;
    return readMac(forwarder(), macs_.forwarder);
}

Place::End Place::prober() const {
    return here_ ? End{&*here_, devices_[0], ""} : End{&namespaces_[0].handle(), devices_[0], proberAddress};
}

Place::End Place::forwarder() const {
    return here_ ? End{&*here_, devices_[1], ""}
                 : End{&namespaces_[1].handle(), devices_[1], forwarderAddress};
}

std::vector<MissingKnob> Place::missing() {
    std::vector<MissingKnob> list;
    for (const Knob knob : {Knob::zeroCopy, Knob::busyPoll})
        for (const auto& end : {prober(), forwarder()})
            if (auto tried = tryOut(end, knob); !tried) {
                list.push_back({knob, tried.error().sentence()});
                break;
            }
    if (auto why = IdleKnob::whyMissing(); !why.empty())
        list.push_back({Knob::deepIdle, why});
    for (const auto& knobs : knobs_)
        if (!knobs.whyNoCoalescing().empty()) {
            list.push_back({Knob::rxCoalescing, knobs.whyNoCoalescing()});
            list.push_back({Knob::txCoalescing, knobs.whyNoCoalescing()});
            break;
        }
    return list;
}

Result<void> Place::apply(Settings settings) {
    for (auto& knobs : knobs_)
        if (auto applied = knobs.apply(settings); !applied)
            return applied;
    return idle_.apply(settings.has(Knob::deepIdle));
}

} // namespace tna::bench
