// SPDX-License-Identifier: Apache-2.0
#include "faults_fixture.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

namespace tna::test {

namespace {
/// So many of a long row.
constexpr unsigned points = 6;

UniqueFd captureOn(const char* interface) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL))};
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
}

/// Whether a capture has seen a frame; what it has seen is forgotten.
bool saw(const UniqueFd& capture, const Frame& frame) {
    bool found = false;
    std::array<std::uint8_t, 2048> buffer{};
    for (;;) {
        const auto size = ::read(capture.get(), buffer.data(), buffer.size());
        if (size < 0)
            return found;
        found |= std::ranges::equal(std::span(buffer.data(), static_cast<std::size_t>(size)), frame.bytes);
    }
}
} // namespace

void FaultsTest::SetUp() {
    BridgeTest::SetUp();
    if (IsSkipped())
        return;
    spdlog::set_level(spdlog::level::off); // the same complaints again and again
    config_.ports.excludeKinds.clear();
    learn();
    ASSERT_EQ(treat(threeToOne(), 2).out, (Arrivals{{0, {threeToOne()}}}));
    must("nft add table netdev t");
    must("nft add chain netdev t c { type filter hook ingress device p2 priority 0; policy drop; }");
    capture_ = captureOn("p2");
    blind_ = true;
}

std::vector<unsigned> FaultsTest::numbers(unsigned calls) {
    const char* wanted = std::getenv("TNA_TEST_FAULTS");
    const bool all = wanted != nullptr && std::string(wanted) == "all";
    const unsigned step = all ? 1 : std::max(calls / points, 1U);
    std::vector<unsigned> found;
    for (unsigned number = 0; number < calls; number += step)
        found.push_back(number);
    return found;
}

unsigned FaultsTest::callsOf(Call call, const std::function<void()>& something) {
    const Fault none(call, ~0U, ENOSYS);
    something();
    return Fault::calls();
}

unsigned FaultsTest::leastCallsOf(Call call, const std::function<void()>& something,
                                  const std::function<void()>& prepare) {
    unsigned least = ~0U;
    for (int i = 0; i < 4; i++) {
        prepare();
        least = std::min(least, callsOf(call, something));
    }
    return least;
}

void FaultsTest::eachCall(Call call, int error, const Steps& steps) {
    steps.prepare();
    const auto calls = callsOf(call, steps.act);
    steps.check();
    ASSERT_GT(calls, 0U);
    for (const auto number : numbers(calls)) {
        SCOPED_TRACE("call " + std::to_string(number) + " of " + std::to_string(calls));
        steps.prepare();
        {
            const Fault fault(call, number, error);
            steps.act();
        }
        steps.check();
        if (HasFailure())
            return;
    }
}

void FaultsTest::startAgain() {
    controller_.reset();
    refusal_.reset();
    auto controller = daemon::Controller::start(config_, seams_);
    if (controller)
        controller_ = std::move(*controller);
    else
        refusal_ = controller.error();
}

void FaultsTest::expectReasons() {
    if (refusal_) {
        EXPECT_FALSE(refusal_->what.empty());
        EXPECT_FALSE(refusal_->cause.empty()) << refusal_->sentence();
        EXPECT_EQ(command({"ip", "link", "show"}).output.find("xdp"), std::string::npos);
        return;
    }
    for (const char* name : {"p0", "p1", "p2"}) {
        const auto document = controller_->port(name);
        if (!document)
            continue; // it is in no bridge
        const auto& port = (*document)["port"];
        if (port["state"] != "accelerated") {
            EXPECT_TRUE(port["why"].is_string()) << document->dump(2);
        }
    }
}

void FaultsTest::expectAsPlainLinux() {
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));
    EXPECT_EQ(treat(twoToOne(), 1).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_EQ(treat(threeToOne(), 2).out, Arrivals{}) << "the filter is not obeyed";
    (void)saw(capture_, oneToThree());
    EXPECT_EQ(treat(oneToThree()).out, (Arrivals{{2, {oneToThree()}}}));
    EXPECT_TRUE(saw(capture_, oneToThree())) << "the capture does not see a frame";
}

void FaultsTest::expectRecovery() {
    if (!controller_)
        return;
    EXPECT_TRUE(eventually(
        [&] {
            controller_->onTick();
            return controller_->onNetlink() &&
                   treat(oneToTwo()) == Treatment{fastPath(), {{1, {oneToTwo()}}}};
        },
        std::chrono::seconds(10)))
        << controller_->status().dump(2);
}

} // namespace tna::test
