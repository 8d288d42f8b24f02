// SPDX-License-Identifier: Apache-2.0
// Calls that fail while the controller takes in what Linux was told: frames are treated as Linux treats them
// by then, and all is fast again once the calls succeed.
#include "change.hpp"
#include "faults_fixture.hpp"

#include <cerrno>

namespace tna::test {
namespace {

struct Case {
    const char* fdb;
    const char* change;
    Call call;
};

class ChangeWithFaults : public FaultsTest, public ::testing::WithParamInterface<Case> {
protected:
    void undo(const Change& change) {
        run(change.undo);
        ASSERT_TRUE(eventually(
            [&] {
                controller_->onTick();
                return controller_->onNetlink() && treat(twoToOne(), 1).out == Arrivals{{0, {twoToOne()}}};
            },
            std::chrono::seconds(10)));
        expectRecovery();
    }
};

TEST_P(ChangeWithFaults, IsObeyedAtOnce) {
    const auto change = *std::ranges::find(changes(), std::string(GetParam().change), &Change::name);
    Arrivals expected;
    for (const auto port : change.ports)
        expected[port] = {oneToTwo()};
    config_.kernel.fdb = GetParam().fdb;
    startAgain();
    ASSERT_TRUE(controller_);
    expectRecovery();
    eachCall(GetParam().call, GetParam().call == Call::file ? EMFILE : ENOBUFS,
             {.prepare = [&] { run(change.commands); },
              .act = [&] { (void)controller_->onNetlink(); },
              .check =
                  [&] {
                      EXPECT_EQ(treat(oneToTwo()).out, expected);
                      expectReasons();
                      controller_->onTick();
                      EXPECT_EQ(treat(oneToTwo()).out, expected);
                      undo(change);
                      expectAsPlainLinux();
                  }});
}

std::string nameOf(const ::testing::TestParamInfo<Case>& info) {
    const std::map<Call, std::string> calls{
        {Call::bpf, "Bpf"}, {Call::netlink, "Netlink"}, {Call::file, "Files"}};
    return std::string(info.param.change) + (std::string(info.param.fdb) == "mirror" ? "Mirror" : "InPlace") +
           calls.at(info.param.call);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ChangeWithFaults,
    ::testing::Values(Case{"mirror", "Isolated", Call::netlink}, Case{"mirror", "Isolated", Call::bpf},
                      Case{"mirror", "Filter", Call::netlink}, Case{"mirror", "Filter", Call::bpf},
                      Case{"mirror", "Station", Call::netlink}, Case{"mirror", "Station", Call::bpf},
                      Case{"mirror", "Leaves", Call::netlink}, Case{"mirror", "Leaves", Call::bpf},
                      Case{"auto", "Learning", Call::bpf}, Case{"auto", "Leaves", Call::bpf},
                      Case{"auto", "Routed", Call::bpf}, Case{"auto", "Routed", Call::netlink},
                      Case{"auto", "Joins", Call::bpf}, Case{"auto", "Joins", Call::netlink}),
    nameOf);

} // namespace
} // namespace tna::test
