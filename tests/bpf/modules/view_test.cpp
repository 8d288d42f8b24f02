// SPDX-License-Identifier: Apache-2.0
// What custom modules are told about frames, as tna/module.h says it.
#include "bpf/view.h"

#include "support/command.hpp"
#include "support/namespace.hpp"
#include "support/program.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <memory>
#include <net/if.h>
#include <optional>
#include <tuple>

namespace tna::test {

auto fieldsOf(const view& view) {
    return std::tuple(view.length, view.ingress, view.vlan_protocol, view.vlan_tci, view.ether_type, view.l3,
                      view.l4, view.ip_version, view.protocol);
}

namespace {

class ModulesView : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        namespace_.emplace();
        scope_.emplace(namespace_->enter());
        must("ip link add p0 type veth peer name q0");
        must("ip link set p0 up");
        object_.reset(::bpf_object__open_file(TNA_VIEW_MODULE, nullptr));
        ASSERT_TRUE(object_);
        ASSERT_EQ(::bpf_object__load(object_.get()), 0);
        port_ = ::if_nametoindex("p0");
    }
    [[nodiscard]] view told(const Frame& frame) const {
        const int program =
            ::bpf_program__fd(::bpf_object__find_program_by_name(object_.get(), "tna_on_ingress"));
        EXPECT_EQ(runProgram(program, frame, port_).first, XDP_DROP);
        view found{};
        const unsigned zero = 0;
        const int map = ::bpf_map__fd(::bpf_object__find_map_by_name(object_.get(), "seen"));
        EXPECT_EQ(::bpf_map_lookup_elem(map, &zero, &found), 0);
        return found;
    }
    /// The same, from the frame as it is cut off at each length.
    void expectAtEachLength(const Frame& whole) const {
        Frame frame;
        for (std::size_t size = 14; size <= whole.bytes.size(); size++) {
            frame.bytes.assign(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_EQ(fieldsOf(told(frame)), fieldsOf(expected(frame)))
                << size << " bytes of " << ::testing::PrintToString(whole);
        }
    }

private:
    [[nodiscard]] view expected(const Frame& frame) const {
        const auto& bytes = frame.bytes;
        const auto word = [&](std::size_t at) {
            return static_cast<std::uint16_t>(bytes[at] << 8U | bytes[at + 1]);
        };
        const auto isTag = [](unsigned type) { return type == 0x8100 || type == 0x88a8; };
        view wanted{};
        wanted.length = static_cast<std::uint32_t>(bytes.size());
        wanted.ingress = port_;
        wanted.l3 = 14;
        wanted.ether_type = word(12);
        for (int tags = 0; tags < 2 && isTag(wanted.ether_type) && bytes.size() >= wanted.l3 + 4U; tags++) {
            if (tags == 0) {
                wanted.vlan_protocol = wanted.ether_type;
                wanted.vlan_tci = word(14);
            }
            wanted.ether_type = word(wanted.l3 + 2U);
            wanted.l3 += 4;
        }
        if (bytes.size() < wanted.l3 + 20U)
            return wanted;
        const auto* header = &bytes[wanted.l3];
        if (wanted.ether_type == 0x0800) {
            wanted.ip_version = 4;
            wanted.protocol = header[9];
            if ((word(wanted.l3 + 6U) & 0x1fffU) == 0) // not in later fragments
                wanted.l4 = static_cast<std::uint16_t>(wanted.l3 + (header[0] & 15U) * 4U);
        } else if (wanted.ether_type == 0x86dd) {
            wanted.ip_version = 6;
            wanted.protocol = header[6];
            const bool extended = header[6] == 0 || header[6] == 43 || header[6] == 44 || header[6] == 60;
            if (!extended)
                wanted.l4 = static_cast<std::uint16_t>(wanted.l3 + 40U);
        }
        return wanted;
    }

    struct Close {
        void operator()(bpf_object* object) const { ::bpf_object__close(object); }
    };
    std::optional<Namespace> namespace_;
    std::optional<NamespaceScope> scope_;
    std::unique_ptr<bpf_object, Close> object_;
    unsigned port_ = 0;
};

FrameBuilder tagged(const std::vector<std::uint16_t>& protocols) {
    FrameBuilder builder;
    builder.ethernet(station(2), station(1));
    for (const auto protocol : protocols)
        builder.vlan(protocol, 0x2005);
    return builder;
}

const std::vector<std::vector<std::uint16_t>> tags{
    {}, {0x8100}, {0x88a8}, {0x88a8, 0x8100}, {0x8100, 0x8100}, {0x88a8, 0x8100, 0x8100}};

TEST_F(ModulesView, OfIpv4) {
    for (const auto& protocols : tags) {
        const auto header = 14 + 4 * protocols.size();
        auto frame = tagged(protocols).udp();
        expectAtEachLength(frame);
        frame.bytes[header] = 0x47; // with options
        expectAtEachLength(frame);
        frame.bytes[header + 6] = 0x20; // the first fragment
        expectAtEachLength(frame);
        frame.bytes[header + 7] = 0x01; // a later one
        expectAtEachLength(frame);
    }
}

TEST_F(ModulesView, OfIpv6) {
    for (const auto& protocols : tags)
        for (const std::uint8_t next : std::initializer_list<std::uint8_t>{0, 6, 17, 43, 44, 58, 60}) {
            auto frame = tagged(protocols).etherType(0x86dd).raw(60);
            frame.bytes[14 + 4 * protocols.size() + 6] = next;
            expectAtEachLength(frame);
        }
}

TEST_F(ModulesView, OfOtherFrames) {
    for (const auto& protocols : tags)
        for (const auto type : std::initializer_list<std::uint16_t>{0x0806, 0x0026, 0x9100})
            expectAtEachLength(tagged(protocols).etherType(type).raw(46));
}

} // namespace
} // namespace tna::test
