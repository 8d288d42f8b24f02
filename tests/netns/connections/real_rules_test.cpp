// SPDX-License-Identifier: Apache-2.0
// Rule sets that people have, with what they translate: flows through them are fast once Linux is sure of
// them, and come out as Linux has made them.
#include "base/file.hpp"
#include "ways_fixture.hpp"

#include <fstream>

namespace tna::test {
namespace {

/// Names and addresses of a rule set, and what they are here.
using Here = std::vector<std::pair<std::string, std::string>>;

template <typename Router>
class RealRules : public Router {
protected:
    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        this->config_.limits.connections = 1024;
    }
    void load(const std::string& name, const Here& here) {
        auto text = readFile(TNA_RULE_SETS + name);
        ASSERT_TRUE(text);
        for (const auto& [there, word] : here)
            for (auto at = text->find(there); at != std::string::npos;
                 at = text->find(there, at + word.size()))
                text->replace(at, there.size(), word);
        const auto path = testing::TempDir() + name;
        std::ofstream(path) << *text;
        const auto loaded =
            name.ends_with(".nft") ? command({"nft", "-f", path}) : command({"iptables-nft-restore", path});
        std::filesystem::remove(path);
        if (loaded.exitCode != 0)
            GTEST_SKIP() << "this kernel, or this machine, has no " << name << ": " << loaded.output;
    }
    static Frame sent(unsigned in, const Connection& ends, std::size_t payload) {
        return withPorts(ipv4Frame(RouteTest::portMac(in), station(in + 1),
                                   {.from = ends.from, .to = ends.to, .payload = payload}),
                         ends.fromPort, ends.toPort);
    }
    /// What answers a frame that has arrived.
    static Connection answerTo(const Frame& frame) {
        const auto address = [&](std::size_t at) {
            return fmt::format("{}.{}.{}.{}", frame.bytes.at(at), frame.bytes.at(at + 1),
                               frame.bytes.at(at + 2), frame.bytes.at(at + 3));
        };
        const auto port = [&](std::size_t at) {
            return static_cast<std::uint16_t>(frame.bytes.at(at) << 8U | frame.bytes.at(at + 1));
        };
        return {.from = address(30), .fromPort = port(36), .to = address(26), .toPort = port(34)};
    }
    /// A flow that begins at a port with a packet of these ends, and goes to the other one.
    void expectFastAsLinux(unsigned in, const Connection& ends) {
        if (this->IsSkipped() || this->HasFatalFailure())
            return;
        const auto first = this->treat(sent(in, ends, 26), in).out;
        ASSERT_TRUE(first.contains(1 - in));
        const auto answer = answerTo(first.at(1 - in).front());
        ASSERT_NE(answer.from + answer.to, ends.to + ends.from) << "nothing is translated";
        ASSERT_TRUE(eventually([&] {
            this->treat(sent(in, ends, 26), in);
            EXPECT_TRUE(this->treat(sent(1 - in, answer, 26), 1 - in).out.contains(in));
            return isAssured(ends) || this->HasFailure();
        }));
        struct Asked {
            unsigned in;
            Frame frame;
            Arrivals out;
        };
        std::vector<Asked> asked;
        for (const std::size_t payload : {18U, 27U, 512U, 1472U})
            for (const bool back : {false, true}) {
                const auto port = back ? 1 - in : in;
                const auto frame = sent(port, back ? answer : ends, payload);
                asked.push_back({port, frame, this->treat(frame, port).out});
            }
        this->accelerate();
        if (this->IsSkipped())
            return;
        ASSERT_NO_FATAL_FAILURE(this->rulesAreKnown());
        for (unsigned i = 0; i < 2; i++)
            EXPECT_EQ(this->treat(asked.at(i).frame, asked.at(i).in).out, asked.at(i).out);
        for (const auto& [port, frame, out] : asked)
            EXPECT_EQ(this->treat(frame, port), (Treatment{fastPath(), out})) << "from port " << port;
    }
};

/// A home: the bridge br0 inside, p1 outside. Or a machine whose guests are on br0.
using Home = RealRules<FromBridge>;
/// A machine whose containers are on the bridge br1, and p0 outside.
using ContainerHost = RealRules<ToBridge>;

TEST_F(Home, OpenWrtMasquerades) {
    load("fw4.nft", {{"br-lan", "br0"}, {"\"wan\"", "\"p1\""}});
    expectFastAsLinux(0, {.toPort = 53});
}

TEST_F(Home, LibvirtMasqueradesItsGuests) {
    load("libvirt.iptables", {{"virbr0", "br0"}, {"192.168.122.0", "10.0.0.0"}});
    expectFastAsLinux(0, {.toPort = 53});
}

/// They ask for the version of packets.
TEST_F(Home, IncusMasqueradesItsGuests) {
    load("incus.nft", {{"incusbr0", "br0"}, {"10.20.30.0", "10.0.0.0"}});
    expectFastAsLinux(0, {.toPort = 53});
}

TEST_F(Home, PodmanMasqueradesContainers) {
    load("netavark.nft", {{"10.88.0.0/16", "10.0.0.0/24"}, {"10.88.0.2", "10.0.0.2"}});
    expectFastAsLinux(0, {.toPort = 53});
}

const Here docker{{"br-app", "br1"}, {"172.20.0.2", "10.0.1.2"}, {"172.20.0.0/16", "10.0.1.0/24"}};

TEST_F(ContainerHost, DockerMasqueradesContainers) {
    load("docker.iptables", docker);
    expectFastAsLinux(1, {.from = "10.0.1.2", .to = "10.0.0.2", .toPort = 53});
}

TEST_F(ContainerHost, DockerPublishesPorts) {
    load("docker.iptables", docker);
    expectFastAsLinux(0, {.to = "10.0.0.1", .toPort = 5353});
}

/// From outside of the cluster: to one of a service's endpoints, and from the node's own address.
TEST_F(ContainerHost, KubernetesHasServices) {
    load("kube_proxy.nft", {{"10.244.0.2", "10.0.1.2"}, {"10.244.0.3", "10.0.1.2"}, {"tcp", "udp"}});
    expectFastAsLinux(0, {.to = "10.96.0.10", .toPort = 53});
}

} // namespace
} // namespace tna::test
