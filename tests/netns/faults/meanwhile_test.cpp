// SPDX-License-Identifier: Apache-2.0
// What happens to a port between what the controller has read of it and each call by which it acts on that:
// the port has gone, is another one, has left.
#include "faults_fixture.hpp"

namespace tna::test {
namespace {

struct Case {
    const char* name;
    std::vector<std::string> commands;
    const char* afterwards; ///< the port's state; null: there is none
};

void PrintTo(const Case& example, std::ostream* out) {
    *out << example.name;
}

const std::vector<std::string> newPort{"ip link add p3 type veth peer name q3", "ip link set q3 up",
                                       "ip link set p3 master br0 up"};

class Meanwhile : public FaultsTest, public ::testing::WithParamInterface<Case> {
protected:
    void SetUp() override {
        FaultsTest::SetUp();
        if (!IsSkipped())
            startAgain(); // libbpf asks what the kernel can do once
    }
    /// Does something while the port is there, and again while that happens to it before each call.
    void atEachCall(const std::function<void()>& prepare, const std::function<void()>& act) {
        const auto calls = leastCallsOf(Call::bpf, act, [&] {
            command({"ip", "link", "del", "p3"});
            prepare();
        });
        ASSERT_GT(calls, 0U);
        std::size_t happened = 0;
        for (const auto number : numbers(calls)) {
            SCOPED_TRACE("call " + std::to_string(number) + " of " + std::to_string(calls));
            command({"ip", "link", "del", "p3"});
            prepare();
            {
                const Fault fault(Call::bpf, number, [] { run(GetParam().commands); });
                act();
                if (Fault::happened())
                    happened++;
                else // some calls are repeated now and then, so that the last ones are not always reached
                    run(GetParam().commands);
            }
            expectReasons();
            expectAsPlainLinux();
            expectRecovery();
            EXPECT_TRUE(eventually([&] { return controller_->onNetlink() && isWanted(); }))
                << controller_->status().dump(2);
            expectAsPlainLinux();
            if (HasFailure())
                return;
        }
        EXPECT_GE(happened * 2, numbers(calls).size());
    }
    [[nodiscard]] bool isWanted() const {
        const auto document = controller_->port("p3");
        if (GetParam().afterwards == nullptr || !document)
            return GetParam().afterwards == nullptr && !document;
        return (*document)["port"]["state"] == GetParam().afterwards;
    }
};

TEST_P(Meanwhile, WhileItStarts) {
    atEachCall([] { run(newPort); },
               [&] {
                   startAgain();
                   ASSERT_TRUE(controller_) << refusal_->sentence();
               });
}

TEST_P(Meanwhile, WhileItObeysAChange) {
    atEachCall(
        [&] {
            ASSERT_TRUE(controller_->onNetlink());
            run(newPort);
        },
        [&] { EXPECT_TRUE(controller_->onNetlink()); });
}

INSTANTIATE_TEST_SUITE_P(Port, Meanwhile,
                         ::testing::Values(Case{"Goes", {"ip link del p3"}, nullptr},
                                           Case{"IsAnotherOne",
                                                {"ip link del p3", newPort[0], newPort[1], newPort[2]},
                                                "accelerated"},
                                           Case{"Leaves", {"ip link set p3 nomaster"}, nullptr}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tna::test
