// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/yardsticks.hpp"

#include "base/file.hpp"
#include "bench/delays/hook.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <charconv>
#include <cmath>
#include <csignal>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto linkPatience = std::chrono::seconds(5);

Result<std::unique_ptr<FrameSocket>> openProber(const Place& place, Settings settings, int sockets) {
    const auto inside = NamespaceScope::enter(place.where());
    if (!inside)
        return std::unexpected(inside.error());
    return FrameSocket::open(place.device(), settings, settings.has(Knob::pollReceiver), sockets);
}

/// While the far end does something; the action gets the prober's socket.
template <typename Action>
auto withSocket(Place& place, const Result<FarEnd::Running>& far, Settings settings, Action action)
    -> decltype(action(std::declval<FrameSocket&>())) {
    auto near = Hook::attach(place.where(), place.device(), Hook::Does::toSocket);
    if (!far || !near)
        return std::unexpected(far ? near.error() : far.error());
    auto socket = openProber(place, settings, near->sockets());
    if (!socket)
        return std::unexpected(socket.error());
    return action(**socket);
}

Result<Delays> probeBySocket(Place& place, const Result<FarEnd::Running>& far, Settings settings,
                             const Pace& pace, const std::function<bool()>& stop) {
    return withSocket(place, far, settings, [&](FrameSocket& socket) -> Result<Delays> {
        SocketWire wire{socket};
        if (place.named())
            if (auto answered = awaitAnswer(wire, place.macs(), linkPatience, stop); !answered)
                return std::unexpected(answered.error());
        // Where nothing has come back by now, that is what is found.
        return probe(wire, place.macs(), pace, stop);
    });
}

Result<Delays> measureUdpEcho(Place& place, const Pace& pace, const std::function<bool()>& stop) {
    const auto far = place.farEnd().echoUdp();
    const auto inside = NamespaceScope::enter(place.where());
    if (!far || !inside)
        return std::unexpected(far ? inside.error() : far.error());
    const auto wire = makeUdpWire(place.farEnd().address());
    if (!wire)
        return std::unexpected(wire.error());
    return probe(**wire, place.macs(), pace, stop);
}

Result<Delays> measurePing(Place& place, const Pace& pace, const std::function<bool()>& stop) {
    constexpr double quickest = 0.002; // that ping takes in seconds; below, it follows the answers
    const auto folder = TemporaryFolder::make();
    const auto inside = NamespaceScope::enter(place.where());
    if (!folder || !inside)
        return std::unexpected(folder ? inside.error() : folder.error());
    const auto output = folder->path() + "/ping";
    std::vector<std::string> words{"ping", "-n", "-s",
                                   "22",   "-w", fmt::format("{}", std::max(5.0, std::ceil(pace.seconds)))};
    if (pace.interval >= quickest)
        words.insert(words.end(), {"-i", fmt::format("{}", pace.interval)});
    else
        words.emplace_back("-A");
    words.push_back(place.farEnd().address());
    auto ping = Process::start(words, output);
    if (!ping)
        return std::unexpected(ping.error());
    const auto answers = [&output] { return pingTimes(readFile(output).value_or("")); };
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(pace.seconds);
    // On a busy machine the time may be over before ping has begun: its own deadline (-w) bounds that.
    while (ping->running() && !stop() && (std::chrono::steady_clock::now() < end || answers().empty()))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ping->end(SIGINT);
    Delays delays;
    delays.nanoseconds = answers();
    delays.sent = delays.nanoseconds.size();
    if (delays.sent == 0)
        return fail("the system's ping got no answer: {}", lastLine(output));
    return delays;
}
} // namespace

std::string whyNoBusyPolling(Place& place) {
    constexpr Pace shortly{.interval = 0, .seconds = 0.01};
    Settings settings = usualSettings();
    settings.set(Knob::busyPoll, true);
    if (auto applied = place.apply(settings); !applied)
        return applied.error().sentence();
    const auto knows = withSocket(
        place, place.farEnd().forward(settings), settings, [&](FrameSocket& socket) -> Result<bool> {
            SocketWire wire{socket};
            const auto delays = probe(wire, place.macs(), shortly, [] { return false; });
            if (!delays)
                return std::unexpected(delays.error());
            return socket.knowsNapi();
        });
    if (!knows)
        return knows.error().sentence();
    return *knows
               ? ""
               : fmt::format("the kernel does not tell sockets the NAPI of {}, so there is nothing to poll",
                             place.device());
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

std::string whyNotMeasured(std::string_view yardstick, Place& place) {
    if ((yardstick == "udp_echo" || yardstick == "ping") && place.farEnd().address().empty())
        return "nobody says which address the far end has (--address, with --dut)";
    return {};
}

Result<Delays> measureYardstick(std::string_view name, Place& place, const Pace& pace,
                                const std::function<bool()>& stop) {
    if (auto applied = place.apply(usualSettings()); !applied)
        return std::unexpected(applied.error());
    if (name == "loop")
        return probe(*makeLoopWire(), place.macs(), pace, stop);
    if (name == "xdp_echo")
        return probeBySocket(place, place.farEnd().echo(), usualSettings(), pace, stop);
    return name == "udp_echo" ? measureUdpEcho(place, pace, stop) : measurePing(place, pace, stop);
}

Result<Delays> measureSettings(Place& place, Settings settings, const Pace& pace,
                               const std::function<bool()>& stop) {
    return probeBySocket(place, place.farEnd().forward(settings), settings, pace, stop);
}

} // namespace tna::bench
