// SPDX-License-Identifier: Apache-2.0
#include "netns/functions/functions_fixture.hpp"

#include "base/file.hpp"
#include "support/nobody.hpp"
#include "tnactl/client.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace tna::test {

void FunctionsTest::SetUp() {
    if (kernelIsOlderThan(6, 4))
        GTEST_SKIP() << "bound sockets cannot be handed over before Linux 6.4";
    Daemon::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
    ASSERT_TRUE(
        writeFile(directory_ + "/conf",
                  "[ports]\nexclude_kinds = []\nfinished_frames = [\"*\"]\n[kernel]\nrefresh = 1000000\n"
                  "[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"" +
                      directory_ + "/functions.d\"\n"));
    std::filesystem::create_directory(directory_ + "/functions.d");
    const auto inside = far_->enter();
    for (unsigned i = 0; i < 2; i++)
        farPorts_[i].emplace("far" + std::to_string(i));
}

void FunctionsTest::TearDown() {
    workload_.reset();
    Daemon::TearDown();
}

void FunctionsTest::startTnad() {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    const auto learn = [&](unsigned at, const Frame& frame) {
        ASSERT_TRUE(eventually([&] {
            far(at).send(frame);
            return far(1 - at).receive(std::chrono::milliseconds(100)) == frame;
        }));
    };
    learn(1, FrameBuilder().ethernet(station(1), station(2)).udp());
    learn(0, FrameBuilder().ethernet(station(2), station(1)).udp());
    for (unsigned i = 0; i < 2; i++)
        (void)far(i).drain();
}

std::string FunctionsTest::declare(const std::string& name, const std::string& text) const {
    const auto answer = ctl::Client(socket()).put("/v1/functions/" + name, text);
    return answer ? "" : answer.error().sentence();
}

nlohmann::json FunctionsTest::functionNamed(const std::string& name) const {
    return ctl::Client(socket()).get("/v1/functions/" + name).value_or(nlohmann::json::object());
}

bool FunctionsTest::becomes(const std::string& name, const std::string& state) const {
    return eventually([&] { return functionNamed(name).value("state", "") == state; },
                      std::chrono::seconds(20));
}

CommandResult FunctionsTest::tnactl(std::vector<std::string> words) const {
    words.insert(words.begin(), {TNACTL, "--socket", socket()});
    return command(words);
}

void FunctionsTest::startWorkload(const std::string& work, const std::string& name,
                                  std::vector<std::string> more) {
    std::vector<std::string> words{TNA_WORKLOAD, work, name, "--socket", functionSocket()};
    std::ranges::move(more, std::back_inserter(words));
    workload_ = std::make_unique<Process>(asNobody(words));
}

Frame FunctionsTest::toPort(unsigned port) {
    auto frame = FrameBuilder().ethernet(station(2), station(1)).udp();
    frame.bytes[36] = static_cast<std::uint8_t>(port >> 8U);
    frame.bytes[37] = static_cast<std::uint8_t>(port);
    return frame;
}

Frame FunctionsTest::swapped(Frame frame) {
    std::swap_ranges(frame.bytes.begin(), frame.bytes.begin() + 6, frame.bytes.begin() + 6);
    return frame;
}

} // namespace tna::test
