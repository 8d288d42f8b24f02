// SPDX-License-Identifier: Apache-2.0
// A function that is written in Python (libtna-function/python, examples/echo.py).
#include "netns/functions/functions_fixture.hpp"
#include "support/ipv4.hpp"
#include "support/nobody.hpp"

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Python : public StartedFunctionsTest {
protected:
    void SetUp() override {
        if (command({"python3", "--version"}).exitCode != 0)
            GTEST_SKIP() << "needs python3";
        StartedFunctionsTest::SetUp();
    }
    [[nodiscard]] std::vector<std::string> python(std::vector<std::string> words) const {
        words.insert(words.begin(), {"env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" TNA_PYTHON,
                                     "TNA_FUNCTION_LIBRARY=" TNA_FUNCTION_LIBRARY,
                                     "TNA_FUNCTION_SOCKET=" + functionSocket(), "python3"});
        return asNobody(words);
    }
    /// A small program that uses the module.
    [[nodiscard]] CommandResult script(const std::string& text) const {
        return command(python({"-c", "import tna_function, sys\n" + text}));
    }
};

Frame echo(unsigned type) {
    auto frame = FrameBuilder().ethernet(station(2), station(1)).udp();
    frame.bytes[23] = 1;
    std::fill(frame.bytes.begin() + 34, frame.bytes.begin() + 42, std::uint8_t{0});
    frame.bytes[34] = static_cast<std::uint8_t>(type);
    const auto sum = internetChecksum(frame.bytes.data() + 34, frame.bytes.size() - 34);
    frame.bytes[36] = static_cast<std::uint8_t>(sum >> 8U);
    frame.bytes[37] = static_cast<std::uint8_t>(sum);
    finishIpv4(frame);
    return frame;
}

TEST_F(Python, ExampleAnswersEchoRequests) {
    ASSERT_EQ(declare("echo", "users = [\"nobody\"]\nports = [\"p0\"]\n[[rule]]\nether_type = \"ipv4\"\n"),
              "");
    workload_ = std::make_unique<Process>(python({TNA_EXAMPLES "/echo.py", "echo"}));
    ASSERT_TRUE(becomes("echo", "connected"));
    auto reply = swapped(echo(0));
    std::swap_ranges(reply.bytes.begin() + 26, reply.bytes.begin() + 30, reply.bytes.begin() + 30);
    far(0).send(echo(8));
    EXPECT_EQ(arrivesAt(0), reply);
    EXPECT_TRUE(nothingAt(1));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53)) << "what is no request is given back";
    far(0).send(echo(0));
    EXPECT_EQ(arrivesAt(1), echo(0));
}

TEST_F(Python, FramesGrowShrinkAndAreMade) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    workload_ = std::make_unique<Process>(python({"-c", R"(
import tna_function
function = tna_function.Function("dns")
assert function.receive(timeout=0) == []
got = []
while not got:
    got = function.receive(timeout=1)
frame, = got
assert function.ports == ["p0"] and frame.port == 0 and function.why == "" and function.connections == 1
whole = bytes(frame.data)
assert frame.room()[0] == 256
frame.move_front(-4)
frame.data[0:16] = whole[0:12] + bytes.fromhex("81000005")
assert bytes(frame.data) == whole[0:12] + bytes.fromhex("81000005") + whole[12:]
assert function.send(frame, 0)
for lost in (lambda: frame.data, lambda: function.send(frame, 0), lambda: frame.move_front(1)):
    try:
        lost()
    except ValueError:
        continue
    raise SystemExit("it is gone, and was used")
assert function.send(function.new_frame(whole[0:12] + bytes.fromhex("88b5") + bytes(50)), 0)
try:
    function.send(function.new_frame(whole), 7)
    raise SystemExit("there is no such port")
except OSError as error:
    assert error.errno == 22, error
function.flush()
counts = function.counts()
assert counts["received"] == 1 and counts["sent"] == 2, counts
while True:
    function.receive()
)"}));
    ASSERT_TRUE(becomes("dns", "connected"));
    far(0).send(toPort(53));
    auto tagged = toPort(53);
    const std::vector<std::uint8_t> tag{0x81, 0, 0, 5};
    tagged.bytes.insert(tagged.bytes.begin() + 12, tag.begin(), tag.end());
    EXPECT_EQ(arrivesAt(0), tagged);
    auto made = FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b5).raw(50);
    std::fill(made.bytes.begin() + 14, made.bytes.end(), std::uint8_t{0});
    EXPECT_EQ(arrivesAt(0), made);
    EXPECT_EQ(functionNamed("dns")["state"], "connected") << "it goes on";
}

TEST_F(Python, WhoGivesBackDoesNotConnectWithoutAWayBack) {
    must("ip link add tna-fn0 type veth peer name taken"); // so there is none
    ASSERT_EQ(declare("dns", dnsFunction), "");
    EXPECT_THAT(
        script("f = tna_function.Function('dns', gives_back=True)\nprint(f.connections, f.why)").output,
        HasSubstr("0 'dns' gives frames back, and there is no way back for it"));
    EXPECT_EQ(script("print(tna_function.Function('dns').connections)").output, "1\n");
}

TEST_F(Python, WhatIsRefusedForGoodIsAnError) {
    ASSERT_EQ(declare("dns", "ports = [\"p0\"]\n[[rule]]\n"), "");
    const auto refused = script("tna_function.Function('dns')");
    EXPECT_NE(refused.exitCode, 0);
    EXPECT_THAT(refused.output,
                HasSubstr("PermissionError: [Errno 1] user 65534 may not be the network function 'dns'"));
    EXPECT_EQ(script("f = tna_function.Function('web')\nprint(f.why, f.receive(0.05))\nf.close()").output,
              "there is no network function 'web' (`tnactl function list` lists them) []\n");
}

} // namespace
} // namespace tna::test
