// SPDX-License-Identifier: Apache-2.0
// A virtual machine behind a tap, with segmentation offload, by the bridge and the rules of libvirt's default
// network: what it exchanges with a container beside it and with the outside is fast, and as large as ever.
#include "host_fixture.hpp"
#include "support/transfer.hpp"

#include "base/file.hpp"

namespace tna::test {
namespace {

class Machine : public Host {
protected:
    static constexpr const char* machineAddress = "192.168.122.10";

    void SetUp() override {
        Host::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        if (command({"ip", "tuntap", "add", "tap0", "mode", "tap", "vnet_hdr"}).exitCode != 0)
            GTEST_SKIP() << "there are no tap devices here";
        must("ip link add virbr0 type bridge");
        must("ip address add 192.168.122.1/24 dev virbr0");
        must("ip link set virbr0 up");
        must("ip link set tap0 master virbr0 up");
        sysctl("net.ipv4.ip_forward", "1");
        container_ = attach("c0", "virbr0", "192.168.122.20", "192.168.122.1");
        boot();
    }
    void TearDown() override {
        machine_.reset();
        container_.inside.reset();
        Host::TearDown();
    }
    /// It sends back what comes, to those who connect and to whom it connects itself.
    void boot() {
        const std::string inside =
            std::string("modprobe virtio_net && ip link set eth0 up && ip address add ") + machineAddress +
            "/24 dev eth0 && ip route add default via 192.168.122.1 && "
            "(busybox nc -ll -p 4000 -e cat & "
            "while true; do busybox nc 198.51.100.2 4000 -e cat; sleep 1; done)";
        // Here is no network to fetch it by: a test before this one does.
        const auto kernel =
            command({TNA_SOURCE_DIR "/tests/vm/get-kernel", "6.12", TNA_SOURCE_DIR "/build/vm"});
        if (kernel.exitCode != 0)
            GTEST_SKIP() << kernel.output;
        machine_.emplace(std::vector<std::string>{
            "sh", "-c",
            "TMPDIR=" + directory_ +
                " TNA_VM_CACHE=" TNA_SOURCE_DIR "/build/vm exec unshare --mount --pid --fork --kill-child "
                "--mount-proc " TNA_SOURCE_DIR "/tests/vm/run-in-vm --tap tap0 6.12 -- sh -c '" +
                inside + "' >" + directory_ + "/log 2>&1"});
        eventually([&] { return connectTo(*container_.inside, machineAddress) || machine_->hasEnded(); },
                   std::chrono::seconds(300));
        if (!machine_->hasEnded())
            return;
        const auto log = readFile(directory_ + "/log").value_or("");
        if (machine_->end(SIGKILL) == 77)
            GTEST_SKIP() << log;
        FAIL() << log;
    }
    /// What the tap has sent ("tx") or received ("rx").
    struct Counted {
        explicit Counted(const char* way) {
            const auto link =
                nlohmann::json::parse(command({"ip", "-j", "-s", "link", "show", "tap0"}).output);
            const auto& counted = link.at(0).at("stats64").at(way);
            bytes = counted.at("bytes");
            packets = counted.at("packets");
        }
        [[nodiscard]] double lengthSince(const Counted& before) const {
            return (bytes - before.bytes) / (packets - before.packets);
        }
        double bytes;
        double packets;
    };

    /// Each byte takes the emulated machine a while.
    void expectFastEcho(const UniqueFd& connection) const {
        constexpr double longestOnACable = 1514;
        ASSERT_TRUE(connection);
        Share share(*this, 30);
        std::optional<Counted> sent, received;
        transferToEcho(connection, [&] {
            if (!share.enough())
                return false;
            sent.emplace("tx");
            received.emplace("rx");
            return true;
        });
        ASSERT_TRUE(sent && received) << ports().dump();
        EXPECT_GT(share.fast(), 0.9);
        EXPECT_GT(Counted("tx").lengthSince(*sent), longestOnACable);
        EXPECT_GT(Counted("rx").lengthSince(*received), longestOnACable);
    }

    Guest container_;
    std::optional<Process> machine_;
};

/// Bridges do not call rules, as libvirt recommends.
TEST_F(Machine, IsFastWithAContainer) {
    if (command({"sysctl", "-n", "net.bridge.bridge-nf-call-iptables"}).exitCode == 0)
        sysctl("net.bridge.bridge-nf-call-iptables", "0");
    accelerate(2);
    if (!IsSkipped())
        expectFastEcho(connectTo(*container_.inside, machineAddress));
}

TEST_F(Machine, IsFastWithTheOutside) {
    const auto loaded =
        command({"iptables-nft-restore", TNA_SOURCE_DIR "/tests/netns/rules/sets/libvirt.iptables"});
    if (loaded.exitCode != 0)
        GTEST_SKIP() << "this kernel, or this machine, has no rules of iptables-nft: " << loaded.output;
    // What is invalid is not translated, and libvirt's rules let it pass.
    must("nft table ip early { chain invalid { type filter hook prerouting priority -150; ct state invalid "
         "drop; }; }");
    accelerate(2);
    if (!IsSkipped())
        expectFastEcho(acceptAt(*outside_, outsideAddress));
}

} // namespace
} // namespace tna::test
