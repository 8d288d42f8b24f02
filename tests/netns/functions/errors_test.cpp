// SPDX-License-Identifier: Apache-2.0
// What cannot be is told in a sentence, and changes nothing.
#include "base/file.hpp"
#include "netns/functions/functions_fixture.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <csignal>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tna/function_protocol.h>
#include <unistd.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* anyUdp = R"(
users = ["nobody"]
ports = ["p0"]
queues = [1]
[[rule]]
protocol = "udp"
)";

class Errors : public StartedFunctionsTest {
protected:
    void expectForwarded() {
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53));
    }
    /// What a program that wants to be a function is told.
    [[nodiscard]] CommandResult workload(const std::string& user, const std::string& name,
                                         std::vector<std::string> more = {}) const {
        std::vector<std::string> words{"setpriv",    "--reuid", user, "--clear-groups", "timeout",       "2",
                                       TNA_WORKLOAD, "macswap", name, "--socket",       functionSocket()};
        words.insert(words.end(), more.begin(), more.end());
        return command(words);
    }
};

TEST_F(Errors, StrangersAreNotHandedAnything) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    const auto stranger = workload("4711", "dns");
    EXPECT_EQ(stranger.exitCode, 3);
    EXPECT_THAT(stranger.output, HasSubstr("user 4711 may not be the network function 'dns' (see 'users'"));
    EXPECT_EQ(functionNamed("dns")["state"], "nobody");
    expectForwarded();
}

/// They may come to be there: that is no reason to refuse it.
TEST_F(Errors, UsersWhoAreNotThereAreNamed) {
    ASSERT_EQ(declare("dns", "users = [\"nobdoy\", \"nobody\"]\ngroups = [\"no-such-group\"]\n"
                             "ports = [\"p0\"]\n[[rule]]\nprotocol = \"udp\"\n"),
              "");
    EXPECT_EQ(functionNamed("dns")["unknown"],
              (std::vector<std::string>{"user 'nobdoy'", "group 'no-such-group'"}));
}

TEST_F(Errors, FunctionThatNobodyHasDeclaredIsWaitedFor) {
    EXPECT_THAT(workload("nobody", "web").output, HasSubstr("there is no network function 'web'"));
}

TEST_F(Errors, NamesThatThereAreNotAndCannotBeAreTold) {
    for (const auto* verb : {"show", "remove", "bypass", "resume"})
        for (const std::string name : {"web", "a b", "\xff"}) {
            const auto said = tnactl({"function", verb, name});
            EXPECT_EQ(said.exitCode, 1);
            EXPECT_THAT(said.output, HasSubstr("there is no network function '" +
                                               (name == "\xff" ? std::string("\\xff") : name) +
                                               "' (`tnactl function list` lists them)"));
        }
    ASSERT_TRUE(writeFile(directory_ + "/dns.toml", dnsFunction));
    for (const auto& name : {std::string("a b"), std::string(32, 'n')})
        EXPECT_THAT(tnactl({"function", "add", directory_ + "/dns.toml", "--name", name}).output,
                    HasSubstr("'" + name + "' is no name for a network function (letters, digits"));
}

TEST_F(Errors, QueueIsHandedOutOnce) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    EXPECT_THAT(workload("nobody", "dns").output, HasSubstr("queue 0 of p0 has been handed to process"));
    EXPECT_THAT(workload("nobody", "dns", {"--queue", "5"}).output,
                HasSubstr("'dns' does not have this queue"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(0), swapped(toPort(53))) << "the first one has it still";
}

TEST_F(Errors, TwoFunctionsCannotHaveAQueue) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    EXPECT_THAT(declare("web", dnsFunction), HasSubstr("queue 0 of p0 is the network function 'dns''s"));
    EXPECT_TRUE(functionNamed("web").empty());
}

TEST_F(Errors, ContradictingRulesChangeNothing) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    EXPECT_THAT(declare("any", anyUdp),
                HasSubstr("rule 1 of 'any' and rule 1 of 'dns' want the same frames"));
    EXPECT_TRUE(functionNamed("any").empty());
    EXPECT_EQ(declare("any", std::string(anyUdp) + "priority = 200\n"), "");
    EXPECT_THAT(declare("any", anyUdp), HasSubstr("want the same frames"));
    EXPECT_EQ(functionNamed("any")["rules"][0]["priority"], 200) << "what was there before is there still";
    expectForwarded();
}

TEST_F(Errors, QueueThatAPortDoesNotHaveIsTold) {
    ASSERT_EQ(declare("any", anyUdp), "");
    EXPECT_THAT(workload("nobody", "any").output,
                HasSubstr("cannot bind 'any' to queue 1 of p0: Invalid argument (p0 may have no such queue"));
    EXPECT_EQ(functionNamed("any")["state"], "nobody");
    expectForwarded();
}

TEST_F(Errors, DriverWithoutZeroCopyIsTold) {
    ASSERT_EQ(declare("dns", std::string("mode = \"zero-copy\"\n") + dnsFunction), "");
    EXPECT_THAT(workload("nobody", "dns").output,
                HasSubstr("(its driver cannot; mode = \"copy\" works there)"));
}

TEST_F(Errors, PortWithoutXdpIsRefusedAndNothingIsLeftBehind) {
    const auto said = declare("dns", "ports = [\"lo\"]\n[[rule]]\nprotocol = \"udp\"\n");
    EXPECT_THAT(said, HasSubstr("cannot attach to lo")) << said;
    EXPECT_TRUE(functionNamed("dns").empty());
    EXPECT_NE(command({"ip", "link", "show", "tna-fn0"}).exitCode, 0);
    expectForwarded();
}

TEST_F(Errors, ForeignXdpProgramIsLeftAlone) {
    must("ip link add p9 type veth peer name q9");
    must("ip link set p9 up");
    const bpf_insn pass[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
                             {.code = BPF_JMP | BPF_EXIT}};
    const UniqueFd program{
        bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", pass, std::size(pass), nullptr)};
    const int port = static_cast<int>(::if_nametoindex("p9"));
    ASSERT_EQ(bpf_xdp_attach(port, program.get(), XDP_FLAGS_DRV_MODE, nullptr), 0);
    const std::string declaration = "ports = [\"p9\"]\n[[rule]]\nprotocol = \"udp\"\n";
    EXPECT_THAT(declare("dns", declaration), HasSubstr("another XDP program is attached"));
    EXPECT_TRUE(functionNamed("dns").empty());
    ASSERT_EQ(bpf_xdp_detach(port, XDP_FLAGS_DRV_MODE, nullptr), 0);
    ASSERT_TRUE(eventually([&] { return declare("dns", declaration).empty(); }));
    EXPECT_TRUE(xdpOn("p9"));
    ASSERT_EQ(tnactl({"function", "remove", "dns"}).exitCode, 0);
    EXPECT_TRUE(eventually([] { return !xdpOn("p9"); }));
}

TEST_F(Errors, PortAtTcxIsRefusedAndStaysAccelerated) {
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "there is no tcx before Linux 6.6";
    end(SIGTERM);
    ASSERT_TRUE(writeFile(directory_ + "/conf",
                          "[ports]\nexclude_kinds = []\ntcx = [\"p*\"]\n"
                          "[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"\"\n"));
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    EXPECT_THAT(declare("dns", dnsFunction),
                HasSubstr("no frames of p0 can be steered: it is accelerated at tcx"));
    EXPECT_TRUE(functionNamed("dns").empty());
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Errors, PortThatComesToBeAtTcxIsSteeredNoMore) {
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "there is no tcx before Linux 6.6";
    ASSERT_EQ(declare("dns", dnsFunction), "");
    EXPECT_TRUE(functionNamed("dns")["ports"][0]["against"].is_null());
    const auto conf = *readFile(directory_ + "/conf");
    const auto reload = [&](const std::string& text) {
        ASSERT_TRUE(writeFile(directory_ + "/conf", text));
        process_->signal(SIGHUP);
    };
    reload("[ports]\ntcx = [\"p*\"]\n" + conf.substr(conf.find('\n') + 1));
    EXPECT_TRUE(eventually([&] {
        const auto against = functionNamed("dns")["ports"][0]["against"];
        return against.is_string() && against.get<std::string>().contains("tcx");
    })) << functionNamed("dns");
    EXPECT_EQ(functionNamed("dns")["state"], "no-port");
    EXPECT_THAT(tnactl({"function", "show", "dns"}).output, HasSubstr("it is accelerated at tcx"));
    reload(conf);
    EXPECT_TRUE(eventually([&] { return functionNamed("dns")["ports"][0]["against"].is_null(); }));
}

TEST_F(Errors, FileThatIsWrongChangesNothing) {
    const auto file = directory_ + "/functions.d/dns.toml";
    ASSERT_TRUE(writeFile(file, dnsFunction));
    process_->signal(SIGHUP);
    ASSERT_TRUE(becomes("dns", "nobody"));
    EXPECT_THAT(tnactl({"function", "remove", "dns"}).output, HasSubstr("'dns' is declared in a file"));
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_TRUE(writeFile(file, "ports = 5\n"));
    process_->signal(SIGHUP);
    ASSERT_TRUE(writeFile(directory_ + "/functions.d/arp.toml",
                          "ports = [\"p1\"]\n[[rule]]\nether_type = \"arp\"\n"));
    process_->signal(SIGHUP);
    ASSERT_TRUE(becomes("arp", "nobody"));
    EXPECT_EQ(functionNamed("dns")["state"], "nobody") << "as it was";
    ASSERT_EQ(::unlink(file.c_str()), 0);
    process_->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return functionNamed("dns").empty(); }));
}

TEST_F(Errors, TooLittleLockedMemoryIsTold) {
    end(SIGTERM);
    // Without CAP_IPC_LOCK the kernel counts what is locked.
    start({"setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=1048576", "--"});
    ASSERT_TRUE(accelerated());
    ASSERT_EQ(declare("dns", dnsFunction), "");
    EXPECT_THAT(workload("nobody", "dns").output, HasSubstr("cannot lock 8388608 bytes of memory for 'dns'"));
    ASSERT_EQ(declare("dns", std::string("frames = 128\n") + dnsFunction), "");
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
}

TEST_F(Errors, NonsenseAtTheSocketIsHungUpOn) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    for (const std::size_t size : {std::size_t{1}, sizeof(tna_function_greeting), std::size_t{4096}}) {
        const UniqueFd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        functionSocket().copy(address.sun_path, sizeof(address.sun_path) - 1);
        ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        const std::string nonsense(size, '\xff');
        ASSERT_EQ(::send(socket.get(), nonsense.data(), size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
        tna_function_answer answer{};
        ASSERT_EQ(::recv(socket.get(), &answer, sizeof(answer), 0), static_cast<ssize_t>(sizeof(answer)));
        EXPECT_EQ(answer.refusal, TNA_FUNCTION_NOT_ALLOWED);
        EXPECT_EQ(::recv(socket.get(), &answer, sizeof(answer), 0), 0);
    }
    startWorkload("macswap", "dns");
    EXPECT_TRUE(becomes("dns", "connected"));
}

} // namespace
} // namespace tna::test
