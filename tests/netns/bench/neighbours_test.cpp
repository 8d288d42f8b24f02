// SPDX-License-Identifier: Apache-2.0
// What is measured beside tenants, and the tenants: they work, and leave nothing.
#include "base/file.hpp"
#include "bench/tenants/offer.hpp"
#include "bench/tenants/tenants.hpp"
#include "in_folder.hpp"
#include "killed_program.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"

#include <bpf/bpf.h>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

/// What a program of ours makes of a frame.
unsigned verdictOf(int program, const std::vector<unsigned char>& frame) {
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(),
                .data_size_in = static_cast<__u32>(frame.size()));
    return bpf_prog_test_run_opts(program, &options) == 0 ? options.retval : ~0U;
}

using Dropping = InFolder;

TEST_F(Dropping, OnlyWhatIsWrongIsDroppedHoweverOftenItIsComputed) {
    auto wrong = wrongFrame(64, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2});
    auto right = wrong;
    right[24] = right[25] = 0;
    std::uint32_t sum = 0;
    for (unsigned i = 14; i < 34; i += 2)
        sum += right[i] * 256U + right[i + 1];
    while (sum > 0xffff)
        sum = (sum & 0xffffU) + (sum >> 16U);
    right[24] = static_cast<unsigned char>(~sum >> 8U);
    right[25] = static_cast<unsigned char>(~sum);
    auto other = wrong;
    other[12] = 0x86; // no IPv4
    for (const unsigned times : {1U, 10U, 64U}) {
        const auto place = DropPlace::make(times);
        ASSERT_TRUE(place) << place.error().sentence();
        EXPECT_EQ(verdictOf((*place)->workProgram(), wrong), XDP_DROP);
        EXPECT_EQ(verdictOf((*place)->workProgram(), right), XDP_PASS);
        EXPECT_EQ(verdictOf((*place)->workProgram(), other), XDP_PASS);
        EXPECT_EQ((*place)->dropped(), 1U);
    }
}

using Offering = InFolder;

/// Sends for a while from a device of the calling thread's namespace.
void offerBy(const DropPlace& place) {
    Offer offer{place, 64};
    EXPECT_TRUE(test::eventually([&] { return place.taken() + place.refused() > 1000; }));
    EXPECT_TRUE(offer.stop());
}

TEST_F(Offering, AVethHasBeenOfferedWhatItRefuses) {
    const auto place = DropPlace::make(1);
    ASSERT_TRUE(place) << place.error().sentence();
    offerBy(**place);
    EXPECT_EQ((*place)->offered(), (*place)->taken() + (*place)->refused());
}

TEST_F(Offering, ACardHasNot) {
    const test::Namespace where;
    const auto inside = where.enter();
    // Nobody reads from it, so that it refuses all.
    if (test::command({"ip", "tuntap", "add", "dev", "tap0", "mode", "tap"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no tap devices";
    test::must("ip link set tap0 up");
    const auto place = DropPlace::make(1, {"tap0", {}});
    ASSERT_TRUE(place) << place.error().sentence();
    offerBy(**place);
    EXPECT_GT((*place)->refused(), 0U);
    EXPECT_EQ((*place)->offered(), (*place)->taken());
    EXPECT_EQ((*place)->offered(), 0U);
}

class Neighbours : public InFolder, public ::testing::WithParamInterface<Burden> {
protected:
    void SetUp() override {
        InFolder::SetUp();
        if (!IsSkipped() && !whyNoTenants(GetParam()).empty())
            GTEST_SKIP() << whyNoTenants(GetParam());
    }
};

TEST_P(Neighbours, WorkInAGroupOfTheirOwnAndLeaveNothing) {
    const auto group = "/sys/fs/cgroup/cpu/tna-bench-" + std::to_string(::getpid()) + "-tenants";
    {
        auto tenants = Tenants::start(GetParam(), 3, folder_->path(), 60);
        ASSERT_TRUE(tenants) << tenants.error().sentence();
        EXPECT_EQ((*tenants)->running(), 3U);
        EXPECT_FALSE((*tenants)->processes().empty());
        for (const auto process : (*tenants)->processes())
            EXPECT_THAT(*readFile("/proc/" + std::to_string(process) + "/cgroup"), HasSubstr("tna-bench-"));
    }
    EXPECT_FALSE(std::filesystem::exists(group));
    EXPECT_TRUE(std::filesystem::is_empty(folder_->path()));
}

INSTANTIATE_TEST_SUITE_P(Burdens, Neighbours, ::testing::Values(Burden::cpu, Burden::disk, Burden::network),
                         [](const auto& burden) { return std::string{nameOf(burden.param)}; });

/// Where a machine has a kernel of its own.
TEST_F(Dropping, TenantsThatAreVirtualMachinesWorkAndLeaveNothing) {
    utsname own{};
    ::uname(&own);
    const char* named = std::getenv("TNA_TEST_KERNEL");
    const std::string kernel = named != nullptr ? named : fmt::format("/boot/vmlinuz-{}", own.release);
    if (const auto why = whyNoTenants(Burden::cpu, kernel); !why.empty())
        GTEST_SKIP() << why << "; TNA_TEST_KERNEL names another";
    {
        auto tenants = Tenants::start(Burden::cpu, 1, folder_->path(), 60, kernel);
        ASSERT_TRUE(tenants) << tenants.error().sentence();
        const auto machine = (*tenants)->processes().back();
        const auto used = [&] {
            std::istringstream words{readFile(fmt::format("/proc/{}/stat", machine)).value_or("")};
            std::string word;
            for (unsigned field = 1; field <= 14; field++) // utime
                words >> word;
            return std::atol(word.c_str());
        };
        EXPECT_TRUE(test::eventually([&] { return used() > 100; }, std::chrono::seconds(60)))
            << "a second of work";
        EXPECT_EQ((*tenants)->running(), 1U);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_->path()));
    const auto many = Tenants::start(Burden::cpu, 100'000, folder_->path(), 60, kernel);
    ASSERT_FALSE(many);
    EXPECT_THAT(many.error().sentence(), HasSubstr("need 16000000 MiB of memory"));
}

/// Processes whose command line or group is of a process.
std::vector<std::string> leftBehind(pid_t owner) {
    const auto mark = "tna-bench-" + std::to_string(owner) + "-";
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none))
        if (const auto groups = readFile(entry.path() / "cgroup");
            groups && groups->find(mark) != std::string::npos)
            found.push_back(entry.path());
    return found;
}

class KilledBesideTenants : public InFolder, public ::testing::WithParamInterface<std::pair<bool, bool>> {};

TEST_P(KilledBesideTenants, AllOfThemGo) {
    if (const auto why = whyNoTenants(Burden::cpu); !why.empty())
        GTEST_SKIP() << why;
    KilledProgram program{{TNA_BENCH, "tenants", "--subjects", "linux", "--burdens", "cpu", "--tenants", "2",
                           "--sizes", "64", "--rounds", "100", "--seconds", "0.5", "--disk", folder_->path(),
                           "--tnad", TNAD}};
    const bool begun = test::eventually(
        [&] { return program.working() != 0 && leftBehind(program.working()).size() >= 6; }, // all of both
        std::chrono::seconds(60));
    EXPECT_TRUE(begun);
    const pid_t worker = program.working();
    program.kill(GetParam().first, GetParam().second);
    EXPECT_TRUE(test::eventually([&] { return leftBehind(worker).empty(); }, std::chrono::seconds(30)))
        << leftBehind(worker).front();
    const auto groupsOf = [&] {
        std::vector<std::string> found;
        std::error_code none;
        for (const char* hierarchy :
             {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"})
            for (const auto& entry : std::filesystem::directory_iterator(hierarchy, none))
                if (entry.path().filename().string().starts_with("tna-bench-" + std::to_string(worker) + "-"))
                    found.push_back(entry.path());
        return found;
    };
    EXPECT_TRUE(test::eventually([&] { return groupsOf().empty(); }, std::chrono::seconds(30)))
        << groupsOf().front();
    EXPECT_TRUE(test::eventually([&] { return std::filesystem::is_empty(folder_->path()); }))
        << "what tenants have written";
}

INSTANTIATE_TEST_SUITE_P(Who, KilledBesideTenants,
                         ::testing::Values(std::pair{true, false}, std::pair{false, true},
                                           std::pair{true, true}),
                         [](const auto& who) {
                             return std::string{who.param.first ? "Working" : ""} +
                                    (who.param.second ? "Waiting" : "");
                         });

} // namespace
} // namespace tna::bench
