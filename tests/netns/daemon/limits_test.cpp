// SPDX-License-Identifier: Apache-2.0
// The daemon with less than it needs of what the kernel gives, and more announcements than it can take: it
// gives up and says so, or works; Linux goes on in both cases.
#include "base/file.hpp"
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <csignal>
#include <filesystem>

namespace tna::test {
namespace {

struct Limit {
    const char* name;
    std::string option; ///< of prlimit
};
void PrintTo(const Limit& limit, std::ostream* out) {
    *out << limit.option;
}

class Limits : public Daemon {
protected:
    /// Either it ends with one of these exit codes, or it answers; and Linux forwards in any case.
    void expectEndOrAnswer(const std::set<int>& codes) {
        const auto answers = [&] { return ctl::Client(socket()).get("/v1/status"); };
        // It has answered, which takes longest, or says why it cannot, or it has ended.
        const auto answersOrSaysWhy = [&] {
            const auto answer = answers();
            return answer || answer.error().sentence().contains("not enough memory for an answer");
        };
        ASSERT_TRUE(
            eventually([&] { return process_->hasEnded() || answersOrSaysWhy(); }, std::chrono::seconds(30)));
        // Ports that it could not do all for are tried again.
        (void)eventually([&] { return process_->hasEnded() || stateOf("p0") == "accelerated"; },
                         std::chrono::seconds(5));
        expectForwarding();
        if (const auto status = answers()) {
            for (const auto& port : (*status)["ports"])
                if (port["state"] != "accelerated") {
                    EXPECT_TRUE(port["why"].is_string()) << status->dump(2);
                }
        } else if (!answersOrSaysWhy()) {
            EXPECT_TRUE(eventually([&] { return process_->hasEnded(); })) << status.error().sentence();
        }
        const bool byItself = process_->hasEnded();
        const int code = end(SIGTERM);
        EXPECT_TRUE(codes.contains(code) || (code == 0 && !byItself)) << "exit code " << code;
        EXPECT_TRUE(eventually([] { return !xdpOn("p0"); }));
        expectForwarding();
    }
};

class LimitsOfProcesses : public Limits, public ::testing::WithParamInterface<Limit> {};

TEST_P(LimitsOfProcesses, EndWithAReasonOrNotAtAll) {
#ifdef __SANITIZE_ADDRESS__
    if (GetParam().option.starts_with("--as="))
        GTEST_SKIP() << "the address sanitizer needs terabytes of addresses";
#endif
    start({"prlimit", GetParam().option, "--"});
    expectEndOrAnswer({1, 3, 4});
}

std::string nameOf(const ::testing::TestParamInfo<Limit>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Of, LimitsOfProcesses,
                         ::testing::Values(Limit{"Files12", "--nofile=12"}, Limit{"Files64", "--nofile=64"},
                                           Limit{"Files255", "--nofile=255"},
                                           Limit{"Files256", "--nofile=256"},
                                           Limit{"Locked", "--memlock=65536"},
                                           Limit{"Memory64", "--as=67108864"},
                                           Limit{"Memory96", "--as=100663296"},
                                           Limit{"Memory160", "--as=167772160"}, Limit{"Tasks", "--nproc=1"}),
                         nameOf);

/// A control group whose processes have so much memory together, and the kernel on their behalf.
class MemoryGroup {
public:
    explicit MemoryGroup(std::size_t bytes) {
        const std::string top = "/sys/fs/cgroup", name = "/tna-test-" + std::to_string(::getpid());
        const bool second =
            readFile(top + "/cgroup.subtree_control").value_or("").find("memory") != std::string::npos;
        folder_ = second ? top + name : top + "/memory" + name;
        std::error_code failed;
        std::filesystem::create_directory(folder_, failed);
        there_ = !failed && writeFile(folder_ + (second ? "/memory.max" : "/memory.limit_in_bytes"),
                                      std::to_string(bytes));
    }
    MemoryGroup(const MemoryGroup&) = delete;
    MemoryGroup& operator=(const MemoryGroup&) = delete;
    ~MemoryGroup() {
        (void)eventually([&] {
            std::error_code failed;
            std::filesystem::remove(folder_, failed);
            return !failed;
        });
    }
    [[nodiscard]] bool there() const { return there_; }
    /// Puts what follows into it.
    [[nodiscard]] std::vector<std::string> prefix() const {
        return {"sh", "-c", "echo $$ >" + folder_ + "/cgroup.procs && exec \"$@\"", "sh"};
    }

private:
    std::string folder_;
    bool there_ = false;
};

class LimitsOfMemory : public Limits, public ::testing::WithParamInterface<unsigned> {};

TEST_P(LimitsOfMemory, EndOrLeavePortsToLinux) {
    const MemoryGroup group(std::size_t{GetParam()} << 20U);
    if (!group.there())
        GTEST_SKIP() << "control groups for memory cannot be made here";
    start(group.prefix());
    expectEndOrAnswer({1, 3, 4, -1}); // -1: the kernel has killed it
}

INSTANTIATE_TEST_SUITE_P(MiB, LimitsOfMemory, ::testing::Values(4U, 12U, 20U, 28U, 40U),
                         ::testing::PrintToStringParamName());

/// What Linux announces while nobody listens, until there is no room: it is read again as a whole.
TEST_F(Limits, AnnouncementsThatAreLostAreMadeUpFor) {
    start();
    ASSERT_TRUE(accelerated());
    process_->signal(SIGSTOP);
    const auto lost = [] { // of all netlink sockets of this namespace
        std::istringstream lines{readFile("/proc/net/netlink").value_or("")};
        unsigned long long sum = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream columns{line};
            std::vector<std::string> words;
            for (std::string word; columns >> word;)
                words.push_back(word);
            if (words.size() > 8)
                sum += std::strtoull(words[8].c_str(), nullptr, 10);
        }
        return sum;
    };
    const auto before = lost();
    std::string batch;
    for (int i = 0; i < 20000; i++)
        batch += "link set dev p0 alias " + std::to_string(i) + "\n";
    ASSERT_TRUE(writeFile(directory_ + "/batch", batch));
    for (int round = 0; round < 5 && lost() == before; round++)
        must("ip -batch " + directory_ + "/batch");
    ASSERT_GT(lost(), before) << "there is still room";
    must("ip link add p2 type veth peer name q2");
    must("ip link set p2 master br0 up");
    must("ip link set p1 nomaster");
    process_->signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return stateOf("p2") == "accelerated"; }, std::chrono::seconds(30)))
        << stateOf("p2");
    EXPECT_TRUE(eventually([&] { return !xdpOn("p1"); }));
    must("ip link set p1 master br0");
    EXPECT_TRUE(accelerated());
    expectForwarding();
}

} // namespace
} // namespace tna::test
