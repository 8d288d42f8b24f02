// SPDX-License-Identifier: Apache-2.0
// The watched pipeline's tables of ports and their VLANs, as the fast path finds them between two writes.
#include "base/unique_fd.hpp"
#include "deploy/fdb/watched_ports.hpp"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

class PortsTable : public ::testing::Test {
protected:
    void SetUp() override {
        LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
        ports_.reset(
            bpf_map_create(BPF_MAP_TYPE_HASH, "test_ports", 4, sizeof(tna_watched_port), 4, nullptr));
        vlans_.reset(
            bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_vlans", 4, sizeof(tna_watched_vlans), 4, &options));
        if (!ports_ || !vlans_)
            GTEST_SKIP() << "needs root, for it makes BPF maps";
        auto opened = deploy::WatchedPorts::open(ports_.get(), vlans_.get(), 4);
        ASSERT_TRUE(opened) << opened.error().sentence();
        table_.emplace(std::move(*opened));
    }
    static void part(assemble::WatchedPort& port, unsigned vid, std::uint64_t what) {
        auto& word = port.vlans.at(vid / TNA_VLANS_IN_WORD);
        const auto shift = 2 * (vid % TNA_VLANS_IN_WORD);
        word = (word & ~(std::uint64_t{3} << shift)) | what << shift;
    }
    static assemble::WatchedPort wanted() {
        assemble::WatchedPort port{.bridge = 1, .vlanProtocol = 0x8100, .pvid = 10};
        part(port, 10, TNA_VLAN_UNTAGGED);
        part(port, 20, TNA_VLAN_TAGGED);
        part(port, 30, TNA_VLAN_LEARNS);
        return port;
    }
    void set(const assemble::WatchedPort& port) { ASSERT_TRUE(table_->set(device, slot, port, true)); }
    [[nodiscard]] unsigned part(unsigned vid) const {
        const __u32 key = slot;
        tna_watched_vlans vlans{};
        EXPECT_EQ(bpf_map_lookup_elem(vlans_.get(), &key, &vlans), 0);
        return vlans.parts[vid / TNA_VLANS_IN_WORD] >> 2 * (vid % TNA_VLANS_IN_WORD) & 3U;
    }
    [[nodiscard]] std::optional<tna_watched_port> entry() const {
        tna_watched_port port{};
        return bpf_map_lookup_elem(ports_.get(), &device, &port) == 0 ? std::optional(port) : std::nullopt;
    }

    static constexpr model::IfIndex device = 7;
    static constexpr unsigned slot = 2;
    UniqueFd ports_;
    UniqueFd vlans_;
    std::optional<deploy::WatchedPorts> table_;
};

TEST_F(PortsTable, HasWhatIsWanted) {
    set(wanted());
    EXPECT_EQ(part(10), unsigned{TNA_VLAN_UNTAGGED});
    EXPECT_EQ(part(20), unsigned{TNA_VLAN_TAGGED});
    EXPECT_EQ(part(30), unsigned{TNA_VLAN_LEARNS});
    ASSERT_TRUE(entry());
    EXPECT_EQ(entry()->pvid, 10);
    EXPECT_EQ(entry()->slot, slot);
    const auto changes = table_->changes();
    table_->take(device, wanted());
    set(wanted());
    EXPECT_EQ(table_->changes(), changes) << "there was nothing to do";
}

TEST_F(PortsTable, NothingIsGivenBeforeAllIsTaken) {
    set(wanted());
    auto next = wanted();
    next.pvid = 30;
    part(next, 10, TNA_VLAN_TAGGED);
    part(next, 20, TNA_VLAN_NONE);
    part(next, 30, TNA_VLAN_UNTAGGED);
    part(next, 40, TNA_VLAN_TAGGED);
    table_->take(device, next);
    EXPECT_EQ(entry()->pvid, 0);
    EXPECT_EQ(part(10), unsigned{TNA_VLAN_TAGGED}) << "it has part in it before and after";
    EXPECT_EQ(part(20), unsigned{TNA_VLAN_NONE});
    EXPECT_EQ(part(30), unsigned{TNA_VLAN_LEARNS});
    EXPECT_EQ(part(40), unsigned{TNA_VLAN_NONE});
    set(next);
    EXPECT_EQ(entry()->pvid, 30);
    EXPECT_EQ(part(30), unsigned{TNA_VLAN_UNTAGGED});
    EXPECT_EQ(part(40), unsigned{TNA_VLAN_TAGGED});
}

TEST_F(PortsTable, PortIsClosedBeforeAnotherOneIsOpened) {
    auto before = wanted();
    before.ingressReason = TNA_REASON_PORT_STATE;
    before.egressReason = before.tagReason = TNA_REASON_COUNT;
    before.maxFrame = 1518;
    set(before);
    auto next = before;
    next.ingressReason = TNA_REASON_COUNT;
    next.egressReason = TNA_REASON_EGRESS_STATE;
    next.tagReason = TNA_REASON_VLAN_DEVICE;
    next.isolated = true;
    next.maxFrame = 1000;
    next.minFrame = 60;
    table_->take(device, next);
    EXPECT_EQ(entry()->ingress_reason, TNA_REASON_PORT_STATE) << "it is opened later";
    EXPECT_EQ(entry()->egress_reason, TNA_REASON_EGRESS_STATE);
    EXPECT_EQ(entry()->tag_reason, TNA_REASON_VLAN_DEVICE);
    EXPECT_TRUE(entry()->isolated);
    EXPECT_EQ(entry()->max_frame, 1000U);
    EXPECT_EQ(entry()->min_frame, 60U);
    set(next);
    EXPECT_EQ(entry()->ingress_reason, TNA_REASON_COUNT);
    next.maxFrame = 1518;
    next.isolated = false;
    table_->take(device, next);
    EXPECT_EQ(entry()->max_frame, 1000U);
    EXPECT_TRUE(entry()->isolated);
}

TEST_F(PortsTable, PortWhoseBridgeFiltersVlansFromNowOnIsClosedUntilItIsSet) {
    auto before = wanted();
    before.vlanProtocol = before.pvid = 0;
    before.ingressReason = TNA_REASON_COUNT;
    set(before);
    auto next = wanted();
    next.ingressReason = TNA_REASON_COUNT;
    table_->take(device, next);
    EXPECT_EQ(entry()->ingress_reason, TNA_REASON_BRIDGE_OPTIONS);
    EXPECT_EQ(entry()->vlan_protocol, 0);
    set(next);
    EXPECT_EQ(entry()->ingress_reason, TNA_REASON_COUNT);
}

TEST_F(PortsTable, PortThatChangesItsBridgeTakesNothingAlong) {
    set(wanted());
    auto next = wanted();
    next.bridge = 2;
    table_->take(device, next);
    EXPECT_FALSE(entry());
    EXPECT_EQ(part(10), unsigned{TNA_VLAN_NONE});
    set(next);
    EXPECT_EQ(entry()->bridge, 2U);
    EXPECT_EQ(part(10), unsigned{TNA_VLAN_UNTAGGED});
}

TEST_F(PortsTable, PortThatIsRemovedLeavesNothingToTheNextOwnerOfItsSlot) {
    set(wanted());
    table_->remove(device);
    EXPECT_FALSE(entry());
    for (const unsigned vid : {10, 20, 30})
        EXPECT_EQ(part(vid), unsigned{TNA_VLAN_NONE});
}

} // namespace
} // namespace tna::test
