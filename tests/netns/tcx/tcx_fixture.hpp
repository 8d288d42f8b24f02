// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

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
