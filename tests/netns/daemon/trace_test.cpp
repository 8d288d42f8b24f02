// SPDX-License-Identifier: Apache-2.0
// tnactl trace: packets, what is decided about them, and nothing left behind.
#include "base/file.hpp"
#include "netns/daemon/daemon_fixture.hpp"
#include "support/packet_port.hpp"
#include "tnactl/client.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <sstream>

namespace tna::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Tracing : public Daemon {
protected:
    void SetUp() override {
        Daemon::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        for (const std::string n : {"0", "1"})
            must("bridge fdb replace 02:00:00:00:00:0" + std::to_string(n == "0" ? 1 : 2) + " dev p" + n +
                 " master static");
        start();
        ASSERT_TRUE(accelerated()) << stateOf("p0");
    }
    void TearDown() override {
        trace_.reset();
        Daemon::TearDown();
    }
    void trace(const std::string& options) {
        trace_.emplace(std::vector<std::string>{"sh", "-c",
                                                std::string("exec ") + TNACTL + " --socket " + socket() +
                                                    " trace " + options + " >" + directory_ + "/shown 2>&1"});
        EXPECT_TRUE(eventually([&] { return tracedBy("p0"); }, std::chrono::seconds(60))) << shown();
    }
    [[nodiscard]] std::string shown() const { return readFile(directory_ + "/shown").value_or(""); }
    [[nodiscard]] bool shows(const std::string& words) const {
        return eventually([&] { return shown().find(words) != std::string::npos; });
    }
    [[nodiscard]] std::vector<json> documents() const {
        std::vector<json> all;
        std::istringstream lines{shown()};
        for (std::string line; std::getline(lines, line);)
            all.push_back(json::parse(line, nullptr, false));
        return all;
    }
    [[nodiscard]] std::string profileOf(const std::string& port) const {
        const auto answer = ctl::Client(socket()).get(ctl::pathOfPort(port));
        return answer && (*answer)["port"]["profile"].is_string()
                   ? (*answer)["port"]["profile"].get<std::string>()
                   : "";
    }
    /// Whether a module stands in the port's path.
    [[nodiscard]] bool tracedBy(const std::string& port) const {
        return profileOf(port).find("custom") != std::string::npos;
    }
    void send(const Frame& frame, int times = 1) {
        const auto inside = far_->enter();
        const PacketPort from("far0");
        for (int i = 0; i < times; i++)
            from.send(frame);
    }
    [[nodiscard]] CommandResult tnactl(std::vector<std::string> words) const {
        words.insert(words.begin(), {TNACTL, "--socket", socket()});
        return command(words);
    }

    const Frame known_ = FrameBuilder().ethernet(station(2), station(1)).udp();
    std::optional<Process> trace_;
};

TEST_F(Tracing, ShowsWhatIsDecidedAndWhy) {
    trace("--port p0");
    EXPECT_FALSE(tracedBy("p1")) << "another port is left alone";
    send(known_);
    send(FrameBuilder().ethernet(station(77), station(1)).udp());
    expectForwarding();
    EXPECT_TRUE(shows("  p0  10.0.0.1:4000 > 10.0.0.2:4001 udp, 60 bytes  bridge: fast, out of p1\n"))
        << shown();
    EXPECT_TRUE(shows("  bridge: slow, to Linux: ")) << shown();
    EXPECT_EQ(tnactl({"module", "list"}).output, "There are no custom modules.\n");
}

TEST_F(Tracing, EndsWithWhoWantedIt) {
    trace("");
    trace_->end(SIGKILL);
    EXPECT_TRUE(eventually([&] { return !tracedBy("p0") && !tracedBy("p1"); })) << profileOf("p0");
    expectForwarding();
}

TEST_F(Tracing, DocumentsAndFilesHaveThePacket) {
    trace("--json --count 1 --pcap " + directory_ + "/file");
    send(known_);
    ASSERT_TRUE(shows("\n")) << shown();
    const auto document = documents().front();
    EXPECT_EQ(document["port"], "p0");
    EXPECT_EQ(document["length"], known_.bytes.size());
    EXPECT_EQ(document["decision"]["by"], "bridge");
    EXPECT_EQ(document["decision"]["action"], "forward");
    EXPECT_EQ(document["decision"]["egress"], "p1");
    EXPECT_EQ(document["packet"]["protocol"], "udp");
    EXPECT_EQ(document["packet"]["source_mac"], "02:00:00:00:00:01");
    std::string wanted;
    for (const auto byte : known_.bytes)
        wanted += static_cast<char>(byte);
    ASSERT_TRUE(eventually([&] { return readFile(directory_ + "/file").value_or("").size() > 40; }));
    const auto file = *readFile(directory_ + "/file");
    EXPECT_EQ(file.substr(24 + 16), wanted) << "behind the headers of the file and of the packet";
    EXPECT_EQ(file.substr(0, 4), "\x4d\x3c\xb2\xa1");
    EXPECT_TRUE(eventually([&] { return !tracedBy("p0"); })) << "after so many, it ends";
}

TEST_F(Tracing, OneInSoManyIsShown) {
    trace("--json --every 10");
    send(known_, 100);
    // It is counted by CPU, and packets of the machine's own may come between.
    EXPECT_TRUE(eventually([&] { return documents().size() >= 5; })) << shown();
    EXPECT_LE(documents().size(), 20U);
}

TEST_F(Tracing, WhatCannotBeTracedIsSaid) {
    EXPECT_THAT(tnactl({"trace", "--port", "nobody"}).output, HasSubstr("'nobody' is not a port here"));
    EXPECT_EQ(tnactl({"pause", "p0"}).exitCode, 0);
    EXPECT_THAT(tnactl({"trace", "--port", "p0"}).output, HasSubstr("tnactl explain p0"));
    EXPECT_EQ(tnactl({"pause"}).exitCode, 0);
    EXPECT_THAT(tnactl({"trace"}).output, HasSubstr("no port is accelerated"));
    EXPECT_EQ(tnactl({"trace", "--every", "0"}).exitCode, 2);
}

TEST_F(Tracing, TwoTracesAtATime) {
    trace("");
    const auto shownToSecond = directory_ + "/second";
    const Process second(
        {"sh", "-c",
         std::string("exec ") + TNACTL + " --socket " + socket() + " trace >" + shownToSecond + " 2>&1"});
    const auto isInPlace = [&] {
        send(known_);
        return readFile(shownToSecond).value_or("").find("bridge: fast") != std::string::npos;
    };
    ASSERT_TRUE(eventually(isInPlace, std::chrono::seconds(60)));
    const auto third = tnactl({"trace"});
    EXPECT_NE(third.exitCode, 0);
    EXPECT_THAT(third.output, HasSubstr("somebody else is tracing"));
}

} // namespace
} // namespace tna::test
