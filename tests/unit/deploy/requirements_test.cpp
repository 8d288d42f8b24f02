// SPDX-License-Identifier: Apache-2.0
// What a user is told when the kernel cannot be used: the reason, the next step, the exit code.
#include "deploy/kernel/requirements.hpp"

#include <cerrno>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::deploy {
namespace {

using ::testing::HasSubstr;

const Machine complete{"6.18.0", {}, 0};

TEST(Requirements, WithoutSysNobodyKnowsHowManyProcessorsThereAre) {
    auto machine = complete;
    machine.processorsError = ENOENT;
    const auto missing = missingRequirement(machine);
    ASSERT_TRUE(missing);
    EXPECT_NE(missing->sentence().find("is /sys mounted?"), std::string::npos);
}

TEST(Requirements, NothingIsMissingOnACompleteMachine) {
    EXPECT_FALSE(missingRequirement(complete));
    EXPECT_FALSE(missingForReadingInPlace(complete));
}

TEST(Requirements, MissingCapabilitiesAreNamed) {
    const auto error = missingRequirement({"6.18.0", {"CAP_BPF", "CAP_PERFMON"}, 0});
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ExitCode::noPermission);
    EXPECT_THAT(error->sentence(), HasSubstr("it lacks privileges: CAP_BPF, CAP_PERFMON (run it as root"));
}

TEST(Requirements, KernelWithoutBtfCannotBeReadInPlace) {
    EXPECT_FALSE(missingRequirement({"6.18.0", {}, ENOENT})) << "it can still be watched";
    const auto error = missingForReadingInPlace({"6.18.0", {}, ENOENT});
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ExitCode::notSupported);
    EXPECT_THAT(error->sentence(), HasSubstr("/sys/kernel/btf/vmlinux"));
    EXPECT_THAT(error->sentence(), HasSubstr("CONFIG_DEBUG_INFO_BTF"));
}

TEST(Requirements, PrivilegesAreAskedForFirst) {
    EXPECT_EQ(missingRequirement({"6.18.0", {"CAP_BPF"}, EACCES})->code, ExitCode::noPermission);
}

TEST(Requirements, KernelThatIsTooOldIsToldItsVersion) {
    const auto error = explainRefusal("cannot load the pipeline", EINVAL, {"6.1.0-28-amd64", {}, 0});
    EXPECT_EQ(error.code, ExitCode::notSupported);
    EXPECT_THAT(error.sentence(), HasSubstr("cannot load the pipeline: Invalid argument (needs Linux 6.6"));
    EXPECT_THAT(error.sentence(), HasSubstr("this is 6.1.0-28-amd64"));
}

TEST(Requirements, RefusalByAKernelThatIsNewEnoughIsAFailure) {
    for (const char* release : {"6.6.0", "6.18.5", "7.0", "unknown"}) {
        const auto error = explainRefusal("cannot load the pipeline", EINVAL, {release, {}, 0});
        EXPECT_EQ(error.code, ExitCode::failure) << release;
        EXPECT_THAT(error.sentence(), HasSubstr(release));
    }
    EXPECT_EQ(explainRefusal("x", ENOSYS, {"6.18.5", {}, 0}).code, ExitCode::notSupported);
}

TEST(Requirements, RefusalOfPermissionIsNoMatterOfVersion) {
    const auto error = explainRefusal("cannot load the pipeline", EPERM, complete);
    EXPECT_EQ(error.code, ExitCode::noPermission);
    EXPECT_THAT(error.sentence(), ::testing::Not(HasSubstr("newer")));
}

TEST(Requirements, LackOfMemoryPointsToTheLimits) {
    EXPECT_THAT(explainRefusal("x", ENOMEM, complete).sentence(), HasSubstr("[limits]"));
}

} // namespace
} // namespace tna::deploy
