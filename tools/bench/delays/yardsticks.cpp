// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/yardsticks.hpp"

#include "base/file.hpp"
#include "bench/delays/forwarder.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/traffic/traffic.hpp"
#include "delays.skel.h"

#include <bpf/libbpf.h>
#include <charconv>
#include <cmath>
#include <csignal>

namespace tna::bench {

namespace {
struct DestroyPrograms {
    void operator()(::delays* programs) const { delays__destroy(programs); }
};
using Programs = std::unique_ptr<::delays, DestroyPrograms>;

/// What an end does with probes, for as long as this lives.
class Hook {
public:
    static Result<Hook> attach(const Place::End& end, bool echo) {
        Hook hook;
        hook.programs_.reset(delays__open_and_load());
        if (!hook.programs_)
            return failErrno(errno, "cannot load the programs for probes");
        const auto inside = NamespaceScope::enter(*end.where);
        if (!inside)
            return std::unexpected(inside.error());
        auto link = attachXdp(
            bpf_program__fd(echo ? hook.programs_->progs.echo : hook.programs_->progs.to_socket), end.device);
        if (!link)
            return std::unexpected(link.error());
        hook.link_ = std::move(*link);
        return hook;
    }
    [[nodiscard]] int sockets() const { return bpf_map__fd(programs_->maps.socket); }

private:
    Programs programs_;
    UniqueFd link_;
};

Result<std::unique_ptr<FrameSocket>> openProber(const Place& place, Settings settings, int sockets) {
    const auto inside = NamespaceScope::enter(*place.prober().where);
    if (!inside)
        return std::unexpected(inside.error());
    return FrameSocket::open(place.prober().device, settings, settings.has(Knob::pollReceiver), sockets);
}

Result<Delays> measureXdpEcho(const Place& place, const Pace& pace, const std::function<bool()>& stop) {
    auto far = Hook::attach(place.forwarder(), true);
    auto near = Hook::attach(place.prober(), false);
    if (!far || !near)
        return std::unexpected(far ? near.error() : far.error());
    auto socket = openProber(place, usualSettings(), near->sockets());
    if (!socket)
        return std::unexpected(socket.error());
    SocketWire wire{**socket};
    return probe(wire, place.macs(), pace, stop);
}

Result<Delays> measureUdpEcho(const Place& place, const Pace& pace, const std::function<bool()>& stop) {
    const auto helper = startUdpEcho(*place.forwarder().where, place.forwarder().address);
    if (!helper)
        return std::unexpected(helper.error());
    const auto inside = NamespaceScope::enter(*place.prober().where);
    if (!inside)
        return std::unexpected(inside.error());
    const auto wire = makeUdpWire(place.forwarder().address);
    if (!wire)
        return std::unexpected(wire.error());
    return probe(**wire, place.macs(), pace, stop);
}

Result<Delays> measurePing(const Place& place, const Pace& pace, const std::function<bool()>& stop) {
    constexpr double quickest = 0.002; // that ping takes in seconds; below, it follows the answers
    const auto folder = TemporaryFolder::make();
    const auto inside = NamespaceScope::enter(*place.prober().where);
    if (!folder || !inside)
        return std::unexpected(folder ? inside.error() : folder.error());
    const auto output = folder->path() + "/ping";
    std::vector<std::string> words{"ping", "-n", "-s",
                                   "22",   "-w", fmt::format("{}", std::max(1.0, std::ceil(pace.seconds)))};
    if (pace.interval >= quickest)
        words.insert(words.end(), {"-i", fmt::format("{}", pace.interval)});
    else
        words.emplace_back("-A");
    words.push_back(place.forwarder().address);
    auto ping = Process::start(words, output);
    if (!ping)
        return std::unexpected(ping.error());
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(pace.seconds);
    while (ping->running() && std::chrono::steady_clock::now() < end && !stop())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ping->end(SIGINT);
    Delays delays;
    delays.nanoseconds = pingTimes(readFile(output).value_or(""));
    delays.sent = delays.nanoseconds.size();
    if (delays.sent == 0)
        return fail("the system's ping got no answer: {}", lastLine(output));
    return delays;
}

/// A forwarder and a prober, who are told of each other's frames; the action gets the prober's socket.
template <typename Action>
auto withSockets(Place& place, Settings settings, Action action)
    -> decltype(action(std::declval<std::unique_ptr<FrameSocket>&>())) {
    if (auto applied = place.apply(settings); !applied)
        return std::unexpected(applied.error());
    auto far = Hook::attach(place.forwarder(), false);
    auto near = Hook::attach(place.prober(), false);
    if (!far || !near)
        return std::unexpected(far ? near.error() : far.error());
    const auto forwarder =
        startForwarder(*place.forwarder().where, place.forwarder().device, settings, far->sockets());
    if (!forwarder)
        return std::unexpected(forwarder.error());
    auto socket = openProber(place, settings, near->sockets());
    if (!socket)
        return std::unexpected(socket.error());
    return action(*socket);
}
} // namespace

std::string whyNoBusyPolling(Place& place) {
    constexpr Pace shortly{.interval = 0, .seconds = 0.01};
    Settings settings = usualSettings();
    settings.set(Knob::busyPoll, true);
    const auto knows =
        withSockets(place, settings, [&](std::unique_ptr<FrameSocket>& socket) -> Result<bool> {
            SocketWire wire{*socket};
            const auto delays = probe(wire, place.macs(), shortly, [] { return false; });
            if (!delays)
                return std::unexpected(delays.error());
            return socket->knowsNapi();
        });
    if (!knows)
        return knows.error().sentence();
    return *knows
               ? ""
               : fmt::format("the kernel does not tell sockets the NAPI of {}, so there is nothing to poll",
                             place.prober().device);
}

std::vector<std::uint32_t> pingTimes(const std::string& output) {
    constexpr std::string_view mark = "time=";
    std::vector<std::uint32_t> times;
    for (auto at = output.find(mark); at != std::string::npos; at = output.find(mark, at)) {
        at += mark.size();
        double milliseconds = 0;
        if (std::from_chars(output.data() + at, output.data() + output.size(), milliseconds).ec ==
            std::errc{})
            times.push_back(static_cast<std::uint32_t>(std::llround(milliseconds * 1e6)));
    }
    return times;
}

std::string whyNotMeasured(std::string_view yardstick, const Place& place) {
    if ((yardstick == "udp_echo" || yardstick == "ping") && place.prober().address.empty())
        return "interfaces that are only used have no addresses for it";
    return {};
}

Result<Delays> measureYardstick(std::string_view name, Place& place, const Pace& pace,
                                const std::function<bool()>& stop) {
    if (auto applied = place.apply(usualSettings()); !applied)
        return std::unexpected(applied.error());
    if (name == "loop")
        return probe(*makeLoopWire(), place.macs(), pace, stop);
    if (name == "xdp_echo")
        return measureXdpEcho(place, pace, stop);
    return name == "udp_echo" ? measureUdpEcho(place, pace, stop) : measurePing(place, pace, stop);
}

Result<Delays> measureSettings(Place& place, Settings settings, const Pace& pace,
                               const std::function<bool()>& stop) {
    return withSockets(place, settings, [&](std::unique_ptr<FrameSocket>& socket) -> Result<Delays> {
        SocketWire wire{*socket};
        return probe(wire, place.macs(), pace, stop);
    });
}

} // namespace tna::bench
