// SPDX-License-Identifier: Apache-2.0
#include "netns/daemon/function_router.hpp"

#include "base/file.hpp"
#include "support/kernel.hpp"
#include "support/nobody.hpp"
#include "tnactl/client.hpp"

#include <filesystem>
#include <sys/stat.h>

namespace tna::test {

void enableIpv6(const std::string& device) {
    sysctl("net.ipv6.conf." + device + ".accept_dad", "0");
    sysctl("net.ipv6.conf." + device + ".disable_ipv6", "0");
}

void FunctionRouter::SetUp() {
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "functions that give frames back need Linux 6.6";
    Daemon::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    for (const auto* device : {"br0", "p0", "p1"})
        must(std::string("ip link del ") + device);
    sysctl("net.ipv4.ip_forward", "1");
    sysctl("net.ipv6.conf.all.forwarding", "1");
    ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"" +
                                                    directory_ + "/functions.d\"\n"));
    std::filesystem::create_directory(directory_ + "/functions.d");
}

void FunctionRouter::TearDown() {
    function_.reset();
    Daemon::TearDown();
}

void FunctionRouter::startTnad() {
    start();
    ASSERT_TRUE(eventually([&] { return ctl::Client(socket()).get("/v1/status").has_value(); }));
}

void FunctionRouter::declareAs(const std::string& text) const {
    const auto answer = ctl::Client(socket()).put("/v1/functions/" + name_, text);
    ASSERT_TRUE(answer) << answer.error().sentence();
}

void FunctionRouter::launch(const std::string& options) {
    function_ = std::make_unique<Process>(
        asNobody({"sh", "-c",
                  "exec " + program_ + " " + name_ + " --json --socket " + directory_ + "/functions.sock " +
                      options + " >" + directory_ + "/said 2>&1"}));
}

void FunctionRouter::launchAndWait(const std::string& options) {
    launch(options);
    EXPECT_TRUE(eventually([&] { return state() == "connected"; })) << state() << ' ' << said();
}

std::string FunctionRouter::state() const {
    const auto answer = ctl::Client(socket()).get("/v1/functions/" + name_);
    return answer ? answer->value("state", "") : answer.error().sentence();
}

std::string FunctionRouter::said() const {
    return readFile(directory_ + "/said").value_or("");
}

} // namespace tna::test
