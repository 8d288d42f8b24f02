// SPDX-License-Identifier: Apache-2.0
#include "bird_fixture.hpp"

#include "base/file.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"
#include "tnactl/client.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <net/if.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace tna::test {

namespace {
constexpr unsigned destinations = 200;              // a multiple of 25
constexpr auto patience = std::chrono::seconds(30); // for machines that have a lot else to do

const Mac routerMac = station(0x100);
const Mac senderMac = station(1);

void numberFrame(Frame& frame, std::size_t number) {
    for (unsigned i = 0; i < 4; i++)
        frame.bytes[frame.bytes.size() - 1 - i] = static_cast<std::uint8_t>(number >> 8U * i);
}

std::size_t numberOf(const Frame& frame) {
    std::size_t number = 0;
    for (std::size_t i = frame.bytes.size() - 4; i < frame.bytes.size(); i++)
        number = number << 8U | frame.bytes[i];
    return number;
}
} // namespace

std::string BirdTest::address(unsigned network, unsigned host) {
    return GetParam().family == AF_INET ? fmt::format("10.0.{}.{}", network, host)
                                        : fmt::format("fd00:0:0:{}::{}", network, host);
}

void BirdTest::makePort(unsigned number, const Namespace& home) {
    const auto n = std::to_string(number);
    const bool ipv6 = GetParam().family == AF_INET6;
    const std::string length = ipv6 ? "/64 nodad" : "/24";
    must("ip link add p" + n + " type veth peer name far" + n + " netns " + home.name());
    const auto up = [&](const std::string& device, unsigned host) {
        if (ipv6)
            for (const char* words :
                 {"addr_gen_mode=1", "accept_dad=0", "keep_addr_on_down=1", "disable_ipv6=0"})
                must("sysctl -qw net.ipv6.conf." + device + "." + words);
        must("ip link set " + device + " up");
        must("ip address add " + address(number, host) + length + " dev " + device);
    };
    up("p" + n, 1);
    const auto there = home.enter();
    up("far" + n, 2);
    must("ethtool -K far" + n + " gro on"); // or the port would not be a redirect target
}

void BirdTest::makeConfigurations() const {
    const bool ipv6 = GetParam().family == AF_INET6;
    const char* family = ipv6 ? "ipv6" : "ipv4";
    std::string routes;
    for (unsigned i = 0; i < prefixes_->count; i++)
        routes += "route " + prefixes_->text(i) + " blackhole;\n";
    ASSERT_TRUE(writeFile(file("routes"), routes));
    const auto session = [&](unsigned number, unsigned from, unsigned to, const std::string& channel) {
        return fmt::format(
            "protocol bgp neighbour{} {{ local {} as {}; neighbor {} as {}; connect delay time "
            "1; connect retry time 2; error wait time 1, 2; check link yes; {} {{ {} }}; }}\n",
            number, address(number, from), 64500 + (from - 1) * number, address(number, to),
            64500 + (to - 1) * number, family, channel);
    };
    auto router = fmt::format("router id 10.0.0.1;\nprotocol device {{ }}\nprotocol kernel {{ {} {{ import "
                              "none; export all; }}; }}\n",
                              family);
    for (unsigned n = 1; n <= neighbours; n++) {
        router += session(
            n, 1, 2, fmt::format("import filter {{ bgp_local_pref = {}; accept; }}; export none;", 300 - n));
        const auto neighbour = fmt::format("router id 10.0.{}.2;\nprotocol device {{ }}\nprotocol static "
                                           "announced {{ {};\ninclude \"{}\";\n}}\n",
                                           n, family, file("routes")) +
                               session(n, 2, 1, "import none; export all;");
        ASSERT_TRUE(writeFile(file("neighbour" + std::to_string(n)), neighbour));
    }
    ASSERT_TRUE(writeFile(file("router"), router));
}

void BirdTest::startBird(const Namespace& home, const std::string& name) {
    const auto inside = home.enter();
    processes_.push_back(std::make_unique<Process>(std::vector<std::string>{
        "bird", "-f", "-c", file(name), "-s", file(name + ".socket"), "-P", file(name + ".pid")}));
}

void BirdTest::startTnad() {
    const ctl::Client client(file("tnad.socket"));
    ASSERT_TRUE(writeFile(file("tnad.conf"), "[ports]\nexclude_kinds = []\n"));
    processes_.push_back(std::make_unique<Process>(std::vector<std::string>{
        TNAD, "--config", file("tnad.conf"), "--socket", file("tnad.socket"), "--log-level", "off"}));
    std::string state;
    const bool accelerated = eventually(
        [&] {
            for (const char* port : {"p0", "p1", "p2"}) {
                const auto answer = client.get(ctl::pathOfPort(port));
                state = answer ? (*answer)["port"].dump() : answer.error().sentence();
                if (!answer || (*answer)["port"]["state"] != "accelerated")
                    return false;
            }
            return true;
        },
        std::chrono::seconds(20));
    if (!accelerated)
        GTEST_SKIP() << "ports are not accelerated here: " << state;
}

void BirdTest::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    if (command({"bird", "--version"}).exitCode != 0)
        GTEST_SKIP() << "needs BIRD (the package bird2)";
    prefixes_.emplace(GetParam().family, GetParam().routes);
    char pattern[] = "/tmp/tna-test-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    sender_.emplace();
    router_.emplace();
    const auto inside = router_->enter();
    makePort(0, *sender_);
    must("ip link set p0 address " + text(routerMac));
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    sysctl("net.ipv4.conf.p0.rp_filter", "0");
    for (unsigned i = 0; i < neighbours; i++) {
        makePort(i + 1, neighbourHome_[i].emplace());
        interfaces_[i] = ::if_nametoindex(("p" + std::to_string(i + 1)).c_str());
        const auto there = neighbourHome_[i]->enter();
        at_[i].emplace("far" + std::to_string(i + 1));
    }
    sysctl(GetParam().family == AF_INET ? "net.ipv4.ip_forward" : "net.ipv6.conf.all.forwarding", "1");
    makeConfigurations();
    watch_.emplace(*prefixes_);
    if (GetParam().accelerated) {
        ASSERT_NO_FATAL_FAILURE(startTnad());
    }
    if (IsSkipped())
        return;
    startBird(*router_, "router");
    for (unsigned i = 0; i < neighbours; i++)
        startBird(*neighbourHome_[i], "neighbour" + std::to_string(i + 1));
    const auto there = sender_->enter();
    from_.emplace("far0");
    pinned_.emplace(); // from here on; the daemons run where they like
    fence_.emplace();
    for (unsigned i = 0; i < destinations; i++) {
        destinations_.push_back(i * (prefixes_->count / destinations));
        const auto to = prefixes_->host(destinations_.back());
        frames_.push_back(GetParam().family == AF_INET
                              ? ipv4Frame(routerMac, senderMac, {.from = address(0, 2), .to = to})
                              : ipv6Frame(routerMac, senderMac, {.from = address(0, 2), .to = to}));
    }
}

void BirdTest::TearDown() {
    processes_.clear();
    std::error_code ignored;
    if (!directory_.empty())
        std::filesystem::remove_all(directory_, ignored);
}

void BirdTest::tell(unsigned neighbour, const std::string& words) {
    const auto told = command({"birdc", "-s", file(fmt::format("neighbour{}.socket", neighbour)), words});
    ASSERT_EQ(told.exitCode, 0) << told.output;
}

/// The same thread looks at what the kernel has told, and sends: so it is known which comes first.
void BirdTest::sendRound() {
    for (unsigned i = 0; i < destinations; i++) {
        watch_->drain();
        const auto interface = watch_->interfaceOf(destinations_[i]);
        unsigned neighbour = 0;
        for (unsigned n = 0; n < neighbours; n++)
            if (interface == interfaces_[n])
                neighbour = n + 1;
        numberFrame(frames_[i], sent_.size());
        sent_.push_back({neighbour, {}});
        from_->send(frames_[i]);
        if (i % 25 == 24) { // more than queues and sockets hold must not be under way
            fence_->pass();
            takeArrivals();
        }
    }
    (void)from_->drain(); // the router's complaints
}

void BirdTest::takeArrivals() {
    for (unsigned n = 0; n < neighbours; n++)
        for (const auto& frame : at_[n]->drain()) {
            const auto number = numberOf(frame);
            if (frame.bytes.size() != frames_[0].bytes.size() || number >= sent_.size())
                continue; // the routers' own
            const auto& original = frames_[number % destinations];
            const std::size_t start = GetParam().family == AF_INET ? 14 + 12 : 14 + 8; // the addresses
            if (std::equal(frame.bytes.begin() + static_cast<std::ptrdiff_t>(start), frame.bytes.end() - 4,
                           original.bytes.begin() + static_cast<std::ptrdiff_t>(start)))
                sent_[number].arrivedAt.push_back(n + 1);
        }
}

void BirdTest::sendUntilRoutedTo(unsigned neighbour) {
    sent_.clear();
    ASSERT_TRUE(eventually(
        [&] {
            sendRound();
            return watch_->allBy(interfaces_[neighbour - 1]);
        },
        patience))
        << "the routes are not there";
    for (unsigned i = 0; i < 5; i++)
        sendRound();
}

void BirdTest::expectArrivalsOnlyAt(unsigned neighbour) {
    std::size_t elsewhere = 0;
    std::size_t lost = 0;
    for (const auto& sent : sent_)
        if (sent.neighbour == neighbour) {
            elsewhere += static_cast<std::size_t>(
                std::ranges::count_if(sent.arrivedAt, [&](auto arrived) { return arrived != neighbour; }));
            lost += sent.arrivedAt.empty() ? 1U : 0U;
        }
    EXPECT_EQ(elsewhere, 0U) << "of " << sent_.size();
    EXPECT_EQ(lost, 0U) << "of " << sent_.size();
}

void BirdTest::setLink(unsigned neighbour, const std::string& state) {
    const auto there = neighbourHome_[neighbour - 1]->enter();
    must(fmt::format("ip link set far{} {}", neighbour, state));
}

void BirdTest::expectFastPackets(std::uint64_t atLeast) {
    const auto answer = ctl::Client(file("tnad.socket")).get(ctl::pathOfPort("p0"));
    ASSERT_TRUE(answer) << answer.error().sentence();
    EXPECT_GE((*answer)["port"]["fast_packets"], atLeast) << answer->dump();
}

} // namespace tna::test
