// SPDX-License-Identifier: Apache-2.0
// A function that is written in Rust (examples/macswap.rs), as its author would compile it.
#include "netns/functions/functions_fixture.hpp"
#include "support/nobody.hpp"

#include <filesystem>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Rust : public StartedFunctionsTest {
protected:
    void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
        GTEST_SKIP() << "the library needs AddressSanitizer, which rustc does not link with";
#endif
        if (command({"rustc", "--version"}).exitCode != 0)
            GTEST_SKIP() << "needs rustc";
        StartedFunctionsTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        const auto compiled = command({"rustc", "-O", "-D", "warnings", TNA_EXAMPLES "/macswap.rs", "-L",
                                       "native=" + libraries(), "-o", program()});
        ASSERT_EQ(compiled.exitCode, 0) << compiled.output;
    }
    [[nodiscard]] static std::string libraries() {
        return std::filesystem::path(TNA_FUNCTION_LIBRARY).parent_path().string();
    }
    [[nodiscard]] std::string program() const { return directory_ + "/macswap"; }
    [[nodiscard]] std::vector<std::string> serving(const std::string& name) const {
        return asNobody({"env", "LD_LIBRARY_PATH=" + libraries(), program(), name, functionSocket()});
    }
};

TEST_F(Rust, ExampleSendsFramesBack) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    workload_ = std::make_unique<Process>(serving("dns"));
    ASSERT_TRUE(becomes("dns", "connected"));
    // more than it has memory for at a time, so that what it has sent is used again
    for (unsigned i = 0; i < 5000; i++) {
        far(0).send(toPort(53));
        ASSERT_EQ(arrivesAt(0), swapped(toPort(53))) << i;
    }
    EXPECT_TRUE(nothingAt(1));
    far(0).send(toPort(80));
    EXPECT_EQ(arrivesAt(1), toPort(80));
    workload_.reset();
    ASSERT_TRUE(becomes("dns", "nobody"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53)) << "without it, they are Linux's";
}

TEST_F(Rust, WaitsForTnadAndConnectsAgain) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    workload_ = std::make_unique<Process>(serving("dns"));
    ASSERT_TRUE(becomes("dns", "connected"));
    ASSERT_EQ(tnactl({"function", "remove", "dns"}).exitCode, 0);
    ASSERT_EQ(declare("dns", dnsFunction), "");
    ASSERT_TRUE(becomes("dns", "connected"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(0), swapped(toPort(53)));
}

TEST_F(Rust, SaysWhyItIsRefused) {
    ASSERT_EQ(declare("dns", "ports = [\"p0\"]\n[[rule]]\n"), "");
    const auto refused = command(serving("dns"));
    EXPECT_EQ(refused.exitCode, 1);
    EXPECT_THAT(refused.output, HasSubstr("macswap: user 65534 may not be the network function 'dns'"));
    const auto usage = command({"env", "LD_LIBRARY_PATH=" + libraries(), program()});
    EXPECT_EQ(usage.exitCode, 2);
    EXPECT_EQ(usage.output, "usage: macswap NAME [SOCKET]\n");
}

} // namespace
} // namespace tna::test
