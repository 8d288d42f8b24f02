// SPDX-License-Identifier: Apache-2.0
// Ports of containers come and go, and the operator may want them back.
#include "deploy/pipeline/profile_store.hpp"
#include "support/own_objects.hpp"
#include "tcx_fixture.hpp"

namespace tna::test {
namespace {

class TcxLifecycle : public TcxTest {
protected:
    /// The port p1 with its far end, as before.
    void comesAgain() {
        must("ip link add p1 type veth peer name far1 netns " + farSide_->name());
        inFar("ip link set far1 up");
        must("ip link set p1 master br0 up");
        const auto inside = farSide_->enter();
        farPorts_[1].emplace("far1");
    }
    void becomesFast() {
        ASSERT_TRUE(reaches("p1", "accelerated"));
        ASSERT_TRUE(eventually([&] {
            (void)treat(twoToOne(), 1);
            return treat(oneToTwo()).out == usual().out;
        }));
        EXPECT_EQ(treat(oneToTwo()), usual());
    }
};

TEST_F(TcxLifecycle, PortThatIsPausedIsLinuxsUntilItIsResumed) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(controller_->pause("p0", true));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{{}, usual().out}));
    ASSERT_TRUE(controller_->pause("p0", false));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(TcxLifecycle, ContainerThatDiesAndTheNextOneWithItsPortsName) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (int times = 0; times < 3; times++) {
        farPorts_[1].reset();
        must("ip link del p1");
        EXPECT_EQ(treat(oneToTwo()).path.fast, 0U);
        comesAgain();
        ASSERT_NO_FATAL_FAILURE(becomesFast());
    }
}

TEST_F(TcxLifecycle, PortThatMovesToAnotherNamespaceAndBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    const Namespace other;
    must("ip link set p1 netns " + other.name());
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
    pump();
    {
        const auto inside = other.enter();
        must("ip link set p1 netns " + dut_->name());
    }
    must("ip link set p1 master br0 up");
    ASSERT_NO_FATAL_FAILURE(becomesFast());
}

/// The kernel takes tenths of a second to verify one, each time that the only container is started.
TEST_F(TcxLifecycle, ProgramsThatNoPortHasAreThereForTheNextOne) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto before = ownProgramIds("pipeline");
    ASSERT_TRUE(controller_->pause(std::nullopt, true));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{{}, usual().out}));
    ASSERT_TRUE(controller_->pause(std::nullopt, false));
    EXPECT_EQ(treat(oneToTwo()), usual());
    EXPECT_EQ(ownProgramIds("pipeline"), before);
}

/// The bridge's address is a part of what packets are routed by.
TEST_F(TcxLifecycle, ButNotTooManyOfThem) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto programs = [] { return ownPrograms("pipeline"); };
    const auto before = programs();
    sysctl("net.ipv4.ip_forward", "1");
    must("ip address add 10.9.0.1/24 dev br0");
    for (std::size_t i = 0; i < deploy::ProfileStore::mostUnused + 2; i++) {
        must("ip link set br0 address " + text(station(100 + static_cast<unsigned>(i))));
        ASSERT_NO_FATAL_FAILURE(pump());
    }
    EXPECT_EQ(programs(), before + deploy::ProfileStore::mostUnused);
    EXPECT_TRUE(eventually([&] { return treat(oneToTwo()) == usual(); }));
}

/// In the table by which frames leave, ports change places. Returns how many did.
unsigned exchangePorts(unsigned one, unsigned other) {
    unsigned exchanged = 0;
    eachOwnMap("egress_ports", [&](int map, const bpf_map_info& info) {
        if (info.type != BPF_MAP_TYPE_ARRAY)
            return;
        for (std::uint32_t slot = 0; slot < info.max_entries; slot++) {
            bpf_devmap_val port{};
            if (bpf_map_lookup_elem(map, &slot, &port) != 0 || (port.ifindex != one && port.ifindex != other))
                continue;
            port.ifindex = port.ifindex == one ? other : one;
            exchanged += bpf_map_update_elem(map, &slot, &port, BPF_ANY) == 0 ? 1U : 0U;
        }
    });
    return exchanged;
}

/// An index is only a number: the device that has it now need not be the one that was decided on.
TEST_F(TcxLifecycle, IndexThatIsAnotherDevicesIsNotSentTo) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto p1 = ::if_nametoindex("p1"), p2 = ::if_nametoindex("p2");
    ASSERT_EQ(exchangePorts(p1, p2), 2U);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-unmanaged"), usual().out}));
    ASSERT_EQ(exchangePorts(p1, p2), 2U);
    EXPECT_EQ(treat(oneToTwo()), usual());
}

} // namespace
} // namespace tna::test
