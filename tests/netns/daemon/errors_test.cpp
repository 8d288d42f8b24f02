// SPDX-License-Identifier: Apache-2.0
// What goes wrong for reasons outside of the programs: one sentence with the next step, the documented exit
// code, and nothing attached.
#include "base/file.hpp"
#include "base/unique_fd.hpp"
#include "netns/daemon/daemon_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <regex>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

/// Adds words to words.
Words operator+(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

class Errors : public Daemon {
protected:
    [[nodiscard]] Words tnad() const {
        return {TNAD, "--config", directory_ + "/conf", "--socket", socket()};
    }
    [[nodiscard]] Words tnactl(const Words& words) const {
        return Words{TNACTL, "--socket", socket()} + words;
    }

    /// A copy that other users can reach.
    [[nodiscard]] std::string reachable(const char* program) const {
        ::chmod(directory_.c_str(), 0755);
        const auto copy = directory_ + "/" + std::filesystem::path(program).filename().string();
        std::filesystem::copy_file(program, copy, std::filesystem::copy_options::skip_existing);
        return copy;
    }

    static void expectRefusal(const Words& words, int exitCode, const Words& said) {
        const auto run = command(words);
        EXPECT_EQ(run.exitCode, exitCode) << run.output;
        for (const auto& part : said)
            EXPECT_THAT(run.output, HasSubstr(part));
        EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << "not one sentence:\n" << run.output;
        EXPECT_FALSE(xdpOn("p0"));
    }
};

const Words asNobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};

TEST_F(Errors, WrongConfigurationNamesFileAndLine) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\ninclude = 3\n"));
    expectRefusal(tnad(), 2, {"tnad: " + directory_ + "/conf:2: 'include' must be a list of strings"});
    expectRefusal(tnad() + Words{"--check-config"}, 2, {"conf:2"});
}

TEST_F(Errors, ConfigurationThatIsNotThere) {
    expectRefusal({TNAD, "--config", directory_ + "/none"}, 2,
                  {directory_ + "/none", "No such file", "--config"});
}

TEST_F(Errors, ConfigurationThatHasNoEnd) {
    const auto fifo = directory_ + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    expectRefusal({TNAD, "--config", fifo}, 2, {"nothing comes out of " + fifo});
    expectRefusal({TNAD, "--config", "/dev/zero"}, 2, {"/dev/zero is no file, but a device", "--config"});
    expectRefusal({TNAD, "--config", directory_}, 2, {"is no file, but a folder"});
}

TEST_F(Errors, NoPrivileges) {
    auto words = tnad();
    words[0] = reachable(TNAD);
    expectRefusal(asNobody + words, 3,
                  {"lacks privileges: CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_ADMIN", "run it as root"});
}

TEST_F(Errors, RootWithoutOneOfTheCapabilities) {
    expectRefusal(Words{"setpriv", "--bounding-set=-all,+bpf,+net_admin"} + tnad(), 3,
                  {"lacks privileges: CAP_PERFMON, CAP_SYS_ADMIN ("});
}

TEST_F(Errors, RootOfAContainerMayNotLoadPrograms) {
    const Words inside{"unshare", "--user", "--map-root-user", "--net"};
    if (const auto can = command(inside + Words{"true"}); can.exitCode != 0)
        GTEST_SKIP() << "needs user namespaces: " << can.output;
    expectRefusal(inside + tnad(), 3, {"Operation not permitted", "container"});
}

TEST_F(Errors, KernelWithoutBtfThatIsToBeReadInPlace) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[kernel]\nfdb = \"in-place\"\n"));
    const Words inside{"unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"",
                       "sh"};
    if (const auto can = command(inside + Words{"true"}); can.exitCode != 0)
        GTEST_SKIP() << "cannot hide the kernel's BTF: " << can.output;
    expectRefusal(inside + tnad(), 4, {"/sys/kernel/btf/vmlinux", "No such file", "CONFIG_DEBUG_INFO_BTF=y"});
}

TEST_F(Errors, DirectoryOfTheSocketCannotBeMade) {
    expectRefusal({TNAD, "--log-level", "off", "--socket", "/proc/none/sock"}, 1,
                  {"cannot make the directory", "/proc/none/sock", "another --socket"});
}

TEST_F(Errors, SomethingElseLiesWhereTheSocketShouldBe) {
    ASSERT_TRUE(writeFile(socket(), "precious"));
    expectRefusal(tnad() + Words{"--log-level", "off"}, 1, {"something else lies there"});
    EXPECT_EQ(*readFile(socket()), "precious");
}

/// One folder is made, as /run/tna; more than that, or one in the root directory, is a name with a mistake.
TEST_F(Errors, FoldersThatNobodyHasAskedForAreNotMade) {
    const auto top = "/tna-test-" + std::to_string(::getpid());
    expectRefusal({TNAD, "--log-level", "off", "--socket", top + "/sock"}, 1,
                  {"cannot make the directory", top + " is not there", "make it"});
    EXPECT_FALSE(std::filesystem::exists(top));
    expectRefusal({TNAD, "--log-level", "off", "--socket", directory_ + "/one/two/sock"}, 1,
                  {directory_ + "/one/two is not there"});
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/one"));
    process_.emplace(Words{TNAD, "--config", directory_ + "/conf", "--log-level", "off", "--socket",
                           directory_ + "/one/sock"});
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(directory_ + "/one/sock"); }));
}

/// Who cannot be asked touches nothing.
TEST_F(Errors, NothingIsAcceleratedBeforeTheSocketsAreThere) {
    const UniqueFd taken{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(taken.get(), 4), 0);
    expectRefusal(tnad(), 1, {"another tnad is running"}); // one line: nothing else is told
    const UniqueFd metrics{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const sockaddr_in any{.sin_family = AF_INET, .sin_port = htons(9472), .sin_addr = {}, .sin_zero = {}};
    ASSERT_EQ(::bind(metrics.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
    ASSERT_EQ(::listen(metrics.get(), 4), 0);
    ASSERT_TRUE(writeFile(directory_ + "/conf",
                          "[ports]\nexclude_kinds = []\n[metrics]\nlisten = \"0.0.0.0:9472\"\n"));
    const auto run =
        command({"timeout", "20", TNAD, "--config", directory_ + "/conf", "--socket", directory_ + "/free"});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_THAT(run.output, HasSubstr("cannot serve metrics on 0.0.0.0:9472"));
    EXPECT_THAT(run.output, Not(HasSubstr("accelerated")));
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/free")) << "it goes along with who has made it";
}

TEST_F(Errors, MachineWithoutSys) {
    const Words inside{"unshare", "--mount", "sh", "-c", "umount -l /sys && exec \"$@\"", "sh"};
    if (const auto can = command(inside + Words{"true"}); can.exitCode != 0)
        GTEST_SKIP() << "cannot hide /sys: " << can.output;
    expectRefusal(inside + tnad(), 1, {"/sys/devices/system/cpu/possible", "is /sys mounted?"});
}

TEST_F(Errors, PathOfTheSocketIsTooLong) {
    const Words words{TNAD, "--log-level", "off", "--socket", "/tmp/" + std::string(200, 'x')};
    expectRefusal(words, 2, {"too long"});
    expectRefusal(words + Words{"--check-config"}, 2, {"too long"});
}

/// What would be refused at the start is refused before.
TEST_F(Errors, PlacesWhereNobodyCanListenAreRefusedWithTheirLine) {
    for (const auto& wrong : {std::string("[metrics]\nlisten = \"nowhere\"\n"),
                              "[daemon]\nsocket = \"/" + std::string(110, 'x') + "\"\n"}) {
        ASSERT_TRUE(writeFile(directory_ + "/conf", wrong));
        expectRefusal({TNAD, "--config", directory_ + "/conf", "--check-config"}, 2, {"conf:2: ", "must be"});
    }
}

TEST_F(Errors, AnotherDaemonOnTheSameSocket) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    const auto second = command(tnad() + Words{"--log-level", "off"});
    EXPECT_EQ(second.exitCode, 1);
    EXPECT_THAT(second.output, HasSubstr("another tnad is running: it answers on " + socket() + " (stop it"));
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Errors, WrongOptionsOfTheDaemon) {
    for (const auto& wrong : {Words{"--log-level", "loud"}, Words{"--nope"}, Words{"extra"}})
        expectRefusal(tnad() + wrong, 2, {"(`tnad --help` shows the usage)"});
}

TEST_F(Errors, DaemonThatIsNotThere) {
    expectRefusal(tnactl({"status"}), 5, {"does not answer on " + socket(), "is it running?"});
    expectRefusal(tnactl({"top"}), 5, {"does not answer"});
    expectRefusal(tnactl({"pause"}), 5, {"does not answer"});
}

TEST_F(Errors, DaemonThatDied) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    end(SIGKILL);
    ASSERT_TRUE(std::filesystem::exists(socket()));
    ASSERT_TRUE(eventually([] { return !xdpOn("p0"); }));
    expectRefusal(tnactl({"explain", "p0"}), 5, {"does not answer"});
}

TEST_F(Errors, DaemonThatHangs) {
    const UniqueFd mute{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(mute.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(mute.get(), 4), 0);
    expectRefusal(tnactl({"graph"}), 5, {"does not answer"});
}

TEST_F(Errors, UserWhoMayNotUseTheSocket) {
    for (const auto& [group, advice] : {std::pair{"games", "(run as root, or join the group games)"},
                                        std::pair{"no-such-group", "(run as root)"}}) {
        ASSERT_TRUE(writeFile(directory_ + "/conf", fmt::format("[ports]\nexclude_kinds = []\n[daemon]\n"
                                                                "socket_group = \"{}\"\n",
                                                                group)));
        start();
        ASSERT_TRUE(accelerated()) << stateOf("p0");
        const auto run = command(asNobody + Words{reachable(TNACTL), "--socket", socket(), "status"});
        EXPECT_EQ(run.exitCode, 3) << run.output;
        EXPECT_THAT(run.output, HasSubstr("you may not use " + socket()));
        EXPECT_THAT(run.output, HasSubstr(advice));
        end(SIGTERM);
    }
}

TEST_F(Errors, UserWhoMayLookButNotChange) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\n[daemon]\n"
                                                "socket_group = \"games\"\nchange_group = \"tape\"\n"));
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    const Words asGamer{"setpriv", "--reuid=65534", "--regid=65534", "--groups=60"};
    const auto asked = [&](const Words& words) {
        return command(asGamer + Words{reachable(TNACTL), "--socket", socket()} + words);
    };
    EXPECT_EQ(asked({"status"}).exitCode, 0);
    for (const auto& words :
         {Words{"pause", "p0"}, Words{"resume"},
          Words{"module", "insert", directory_ + "/conf", "--name", "m"}, Words{"module", "remove", "m"}}) {
        const auto run = asked(words);
        EXPECT_EQ(run.exitCode, 3) << run.output;
        EXPECT_EQ(run.output,
                  "tnactl: you may look, but change nothing: that is for root and members of the group "
                  "tape (see 'change_group' under [daemon] in the configuration)\n");
    }
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Errors, PortThatIsNotThere) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    for (const std::string port : {"nope", "br0", "a?b#%41"})
        for (const std::string what : {"explain", "pause", "resume"}) {
            const auto run = command(tnactl({what, port}));
            EXPECT_EQ(run.exitCode, 1) << what;
            EXPECT_EQ(run.output,
                      "tnactl: '" + port +
                          "' is not a port of a bridge or a router here (the ports are p0, p1)\n");
        }
}

TEST_F(Errors, WrongUsageOfTheControlProgram) {
    for (const auto& wrong :
         {Words{}, Words{"nope"}, Words{"explain"}, Words{"explain", ""}, Words{"route"}, Words{"--nope"},
          Words{"status", "--dot"}, Words{"--json"}, Words{"--json=maybe", "status"}})
        expectRefusal(tnactl(wrong), 2, {" --help` shows the usage)"});
    expectRefusal(tnactl({"route", "get", "10.0.0.1"}), 2, {"route get ADDRESS from ADDRESS iif PORT"});
    expectRefusal(tnactl({"top", "--json"}), 2, {"'top' has no --json", "--json status"});
    expectRefusal(tnactl({"graph", "--json", "--dot"}), 2, {"exclude each other"});
}

/// The unit file's promise: no more than these.
TEST_F(Errors, CapabilitiesOfTheUnitFileAreEnough) {
    const auto unit = readFile(TNA_SOURCE_DIR "/packaging/tnad.service.in");
    ASSERT_TRUE(unit);
    std::smatch line;
    ASSERT_TRUE(std::regex_search(*unit, line, std::regex("\nCapabilityBoundingSet=(.*)\n")));
    auto list = std::regex_replace(line[1].str(), std::regex(" ?CAP_"), ",+");
    std::ranges::transform(list, list.begin(), [](unsigned char letter) { return std::tolower(letter); });
    start({"setpriv", "--no-new-privs", "--bounding-set=-all" + list});
    EXPECT_TRUE(accelerated()) << stateOf("p0");
    EXPECT_EQ(end(SIGTERM), 0);
}

} // namespace
} // namespace tna::test
