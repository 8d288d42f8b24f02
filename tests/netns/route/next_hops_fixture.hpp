// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {

/// How many destinations of each kind: one packet in many is evaluated from nothing, by chance.
inline constexpr unsigned several = 12;

class NextHops : public RouteTest, public testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        config_.limits.manyRoutes = GetParam() ? 0 : 1000000;
        config_.limits.destinations = 4096;
        must("ip route add 10.9.0.0/16 via 10.0.1.2");
        must("ip route add 10.10.0.0/16 via 10.0.2.2");
    }
    /// Never the same destination twice.
    [[nodiscard]] std::string fresh(unsigned network = 9) {
        next_++;
        return fmt::format("10.{}.{}.{}", network, next_ / 250, next_ % 250 + 1);
    }
    [[nodiscard]] std::string freshSource() { return "10.0.0." + std::to_string(10 + next_++); }
    void expectFastToMany(unsigned network = 9, unsigned port = 1) {
        for (unsigned i = 0; i < several; i++)
            expectFast(packet({.to = fresh(network)}), port);
    }
    void expectSlowFromMany(const std::string& reason, const std::function<Frame()>& frame) {
        for (unsigned i = 0; i < several; i++)
            EXPECT_EQ(send(frame()), slowPath(reason));
    }
    /// What a change makes of packets to new destinations, and that all is as before when it is undone.
    void expectChange(const std::string& words, const std::string& back, unsigned port) {
        SCOPED_TRACE(words);
        expectFastToMany();
        must(words);
        expectFastToMany(9, port);
        must(back);
        expectFastToMany();
    }

private:
    unsigned next_ = 0;
};

} // namespace tna::test
