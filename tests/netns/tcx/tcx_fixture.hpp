// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>

namespace tna::test {

/// The bridge of BridgeTest, or another test of that kind, with its ports at tcx.
template <typename Base>
class AtTcx : public Base {
protected:
    void SetUp() override {
        this->config_.ports.tcxKinds = {"veth", "tun"};
        Base::SetUp();
    }
    /// Starts the controller, and skips the test where ports cannot be at tcx.
    void accelerateAtTcx() {
        ASSERT_NO_FATAL_FAILURE(Base::accelerate());
        if (Base::IsSkipped())
            return;
        const auto document = Base::controller_->port("p0");
        ASSERT_TRUE(document);
        ASSERT_EQ((*document)["port"]["hook"], "tcx");
    }
    /// A generic XDP program at the other end of a port drops all.
    void dropsAll(const char* far) {
        const auto inside = this->farSide_->enter();
        const bpf_insn drop[] = {
            {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = XDP_DROP},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_XDP, "drops_all", "GPL", drop, 2, nullptr)};
        ASSERT_EQ(bpf_xdp_attach(static_cast<int>(::if_nametoindex(far)), program.get(), XDP_FLAGS_SKB_MODE,
                                 nullptr),
                  0);
    }
};

/// The stations are known already.
class TcxTest : public AtTcx<BridgeTest> {
protected:
    void SetUp() override {
        AtTcx::SetUp();
        if (!IsSkipped())
            learn();
    }
    static Treatment usual() { return {fastPath(), {{1, {oneToTwo()}}}}; }
    void start() {
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        if (!IsSkipped()) {
            ASSERT_EQ(treat(oneToTwo()), usual());
        }
    }
};

} // namespace tna::test
