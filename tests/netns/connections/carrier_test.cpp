// SPDX-License-Identifier: Apache-2.0
// Many customers behind few addresses: Linux chooses address and port of each flow, and the fast path uses
// what it has chosen. TNA_TEST_FLOWS=100000 in the environment takes as many flows, over 64 addresses.
#include "ways_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

namespace tna::test {
namespace {

constexpr const char* server = "10.0.1.2";
constexpr std::size_t atOnce = 64, addressAt = 26, portAt = 34;

unsigned flowsWanted() {
    const char* asked = std::getenv("TNA_TEST_FLOWS");
    return asked == nullptr ? 2000 : std::max(2000U, static_cast<unsigned>(std::strtoul(asked, nullptr, 10)));
}

unsigned addressesFor(unsigned flows) {
    return flows < 100000 ? 4 : 64;
}

/// Where a flow comes from, and what Linux has made of that.
struct End {
    std::string address;
    std::uint16_t port = 0;
    auto operator<=>(const End&) const = default;
};

End sourceOf(const Frame& frame) {
    const auto& bytes = frame.bytes;
    return {fmt::format("{}.{}.{}.{}", bytes.at(addressAt), bytes.at(addressAt + 1), bytes.at(addressAt + 2),
                        bytes.at(addressAt + 3)),
            static_cast<std::uint16_t>(bytes.at(portAt) << 8U | bytes.at(portAt + 1))};
}

class Carrier : public RouteTest {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        must("nft table ip carrier { chain forward { type filter hook forward priority 0; policy drop;"
             " ct state established,related accept; iifname p0 accept; };"
             " chain after { type nat hook postrouting priority 100; }; }");
        if (!std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
            GTEST_SKIP() << "needs connection tracking";
        for (const char* timeout : {"timeout", "timeout_stream"})
            sysctl(std::string("net.netfilter.nf_conntrack_udp_") + timeout, "1000000");
        // Customers are behind a gateway.
        must("ip route add 10.128.0.0/9 via 10.0.0.2");
    }
    static void translateTo(const std::string& words, const std::string& what = "") {
        must("nft add rule ip carrier after oifname p1 " + what + "snat to " + words);
    }
    static End customer(unsigned number) {
        return {fmt::format("10.{}.{}.{}", 128 + number / 50000, number / 250 % 200, 1 + number % 250),
                static_cast<std::uint16_t>(2000 + number % 7)};
    }
    static Frame forth(const End& from) {
        return withPorts(RouteTest::packet({.from = from.address, .to = server}), from.port, 5000);
    }
    static Frame forthOut(const End& to) {
        return withPorts(
            oneHopFurther(RouteTest::packet({.from = to.address, .to = server}), station(2), portMac(1)),
            to.port, 5000);
    }
    static Frame back(const End& to) {
        return withPorts(ipv4Frame(portMac(1), station(2), {.from = server, .to = to.address}), 5000,
                         to.port);
    }
    static Frame backOut(const End& from) {
        return withPorts(
            oneHopFurther(ipv4Frame(portMac(1), station(2), {.from = server, .to = from.address}), station(1),
                          portMac(0)),
            5000, from.port);
    }
    struct Flow {
        End from;
        End to;
    };
    static Connection connectionOf(const Flow& flow) {
        return {.from = flow.from.address, .fromPort = flow.from.port, .to = server};
    }
    /// Many frames into a port; what comes out at the other one, in that order.
    std::vector<Frame> through(const std::vector<Frame>& frames, unsigned port) {
        std::vector<Frame> all;
        for (std::size_t at = 0; at < frames.size(); at += atOnce) {
            for (std::size_t i = at; i < std::min(frames.size(), at + atOnce); i++)
                far(port).send(frames[i]);
            auto found = arrivals();
            EXPECT_LE(found.size(), 1U);
            auto& out = found[1 - port];
            all.insert(all.end(), std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
        }
        return all;
    }
    /// Packets of all flows, one way; each comes out as Linux has decided when it began.
    void pass(bool answers) {
        std::vector<Frame> in, expected;
        for (const auto& flow : flows_) {
            in.push_back(answers ? back(flow.to) : forth(flow.from));
            expected.push_back(answers ? backOut(flow.from) : forthOut(flow.to));
        }
        const auto out = through(in, answers ? 1 : 0);
        ASSERT_EQ(out.size(), expected.size());
        for (std::size_t i = 0; i < out.size(); i++)
            ASSERT_EQ(out[i], expected[i]) << (answers ? "answer" : "packet") << " of flow " << i;
    }
    /// The first packet of each flow.
    void begin(unsigned count) {
        std::vector<Frame> in;
        for (unsigned number = 0; number < count; number++) {
            flows_.push_back({.from = customer(number), .to = {}});
            in.push_back(forth(flows_.back().from));
        }
        const auto out = through(in, 0);
        ASSERT_EQ(out.size(), in.size());
        for (std::size_t i = 0; i < out.size(); i++) {
            flows_[i].to = sourceOf(out[i]);
            ASSERT_EQ(out[i], forthOut(flows_[i].to)) << i;
        }
    }
    /// Linux relies on flows that have been answered for two seconds; of these on the last one last.
    void becomeAssured() {
        const auto& last = flows_.back();
        ASSERT_TRUE(eventually([&] {
            (void)through({forth(last.from)}, 0);
            return isAssured(connectionOf(last));
        }));
    }
    /// Of the kernel's memory, that the maps of this process take.
    static double megabytes() {
        std::map<std::string, double> bytes; // by the map's number: several descriptors may stand for one
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            if (std::filesystem::read_symlink(entry.path(), gone) != "anon_inode:bpf-map")
                continue;
            std::ifstream told("/proc/self/fdinfo/" + entry.path().filename().string());
            std::map<std::string, std::string> words;
            for (std::string name, value; told >> name >> value;)
                words[name] = value;
            bytes[words["map_id:"]] = std::strtod(words["memlock:"].c_str(), nullptr);
        }
        double all = 0;
        for (const auto& [number, size] : bytes)
            all += size / 1e6;
        return all;
    }

    std::vector<Flow> flows_;
};

TEST_F(Carrier, FlowsKeepTheAddressesThatLinuxHasChosen) {
    const unsigned count = flowsWanted(), addresses = addressesFor(count);
    translateTo(fmt::format("10.0.1.64-10.0.1.{}", 63 + addresses));
    config_.limits.connections = count + count / 3;
    ASSERT_NO_FATAL_FAILURE(begin(count));
    std::set<End> taken;
    std::set<std::string> used;
    for (const auto& flow : flows_) {
        EXPECT_TRUE(taken.insert(flow.to).second) << "two flows have the same end";
        used.insert(flow.to.address);
    }
    EXPECT_EQ(used.size(), addresses);
    pass(true);
    accelerate();
    if (IsSkipped() || HasFailure())
        return;
    rulesAreKnown();
    becomeAssured();
    for (const bool answers : {false, true})
        ASSERT_NO_FATAL_FAILURE(pass(answers)); // a lesson each way
    const auto before = counted(0).fast + counted(1).fast;
    const auto began = std::chrono::steady_clock::now();
    for (const bool answers : {false, true})
        ASSERT_NO_FATAL_FAILURE(pass(answers));
    const auto fast = counted(0).fast + counted(1).fast - before;
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - began;
    fmt::print("{} flows over {} addresses: {} of {} packets fast ({:.1f} s); maps of {:.0f} MB\n", count,
               addresses, fast, 2 * count, lasted.count(), megabytes());
    EXPECT_GE(fast, 2 * count * 99 / 100);
}

/// What finds no port is dropped, and those that have one keep it.
TEST_F(Carrier, WhereAllPortsAreTakenLinuxDropsWhatIsNew) {
    constexpr unsigned ports = 8;
    config_.limits.connections = 1024;
    translateTo("10.0.1.64:4000-4007", "meta l4proto udp ");
    ASSERT_NO_FATAL_FAILURE(begin(ports));
    pass(true);
    accelerate();
    if (IsSkipped() || HasFailure())
        return;
    rulesAreKnown();
    becomeAssured();
    for (const bool answers : {false, true})
        pass(answers);
    const auto expectFast = [&] {
        for (const auto& flow : flows_) {
            EXPECT_EQ(treat(forth(flow.from)), (Treatment{fastPath(), {{1, {forthOut(flow.to)}}}}));
            EXPECT_EQ(treat(back(flow.to), 1), (Treatment{fastPath(), {{0, {backOut(flow.from)}}}}));
        }
    };
    expectFast();
    const auto late = customer(ports);
    for (unsigned i = 0; i < 3; i++)
        EXPECT_EQ(treat(forth(late)), (Treatment{slowPath("flow-unknown"), {}}));
    expectFast();
    const auto gone = flows_.back();
    flows_.pop_back();
    ASSERT_EQ(removeConnection(connectionOf(gone)), 0);
    const auto first = treat(forth(late));
    EXPECT_EQ(first, (Treatment{slowPath("flow-unknown"), {{1, {forthOut(gone.to)}}}}))
        << "it gets the port that has become free";
    // Its answers are not those of the flow that had the port before.
    EXPECT_EQ(treat(back(gone.to), 1).out, (Arrivals{{0, {backOut(late)}}}));
    EXPECT_EQ(treat(forth(gone.from)), (Treatment{slowPath("flow-changed"), {}}));
    expectFast();
}

} // namespace
} // namespace tna::test
