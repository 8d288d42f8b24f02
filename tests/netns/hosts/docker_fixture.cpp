// SPDX-License-Identifier: Apache-2.0
#include "docker_fixture.hpp"

#include "base/file.hpp"

#include <filesystem>
#include <unistd.h>

namespace tna::test {

namespace {
const std::string unpacked = TNA_SOURCE_DIR "/build/docker";

/// Below which the kernel keeps account of the containers.
std::string group() {
    return "tna-docker-" + std::to_string(::getpid());
}

/// An image whose only program is busybox, which is asked to wait.
void makeImage(const std::string& directory) {
    std::filesystem::create_directories(directory + "/image/bin");
    std::filesystem::copy_file("/bin/busybox", directory + "/image/bin/busybox");
    must("tar -C " + directory + "/image -cf " + directory + "/image.tar .");
}
} // namespace

void Docker::SetUp() {
    if (const auto got = command({TNA_SOURCE_DIR "/tests/netns/hosts/get-docker", unpacked});
        got.exitCode == 77)
        GTEST_SKIP() << got.output;
    else
        ASSERT_EQ(got.exitCode, 0) << got.output;
    Host::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    ASSERT_NO_FATAL_FAILURE(makeImage(directory_));
    startDocker();
    if (IsSkipped() || HasFatalFailure())
        return;
    docker({"import", directory_ + "/image.tar", "image"});
}

void Docker::TearDown() {
    tnad_.reset();
    docker_.reset();
    // What has been killed may be there for a moment yet.
    EXPECT_TRUE(eventually([&] {
        command(
            {"sh", "-c",
             "find /sys/fs/cgroup -depth -type d -path '*/" + group() + "*' -exec rmdir {} + 2>/dev/null"});
        return command({"sh", "-c", "find /sys/fs/cgroup -type d -name " + group()}).output.empty();
    }));
    Host::TearDown();
}

void Docker::startDocker() {
    docker_.emplace(std::vector<std::string>{"sh", "-c",
                                             "exec " TNA_SOURCE_DIR "/tests/netns/hosts/run-docker " +
                                                 unpacked + " " + directory_ + " " + group() + " >" +
                                                 directory_ + "/log 2>&1"});
    const bool there = eventually(
        [&] {
            return docker_->hasEnded() || command({unpacked + "/usr/bin/docker", "-H",
                                                   "unix://" + directory_ + "/docker.sock", "info"})
                                                  .exitCode == 0;
        },
        std::chrono::seconds(60));
    if (!there || docker_->hasEnded()) {
        const auto log = readFile(directory_ + "/log");
        GTEST_SKIP() << "Docker does not start here: "
                     << (log ? log->substr(log->size() > 600 ? log->size() - 600 : 0) : "");
    }
}

void Docker::stopDocker() {
    command({"sh", "-c", "pkill -TERM -P " + std::to_string(docker_->id())});
    EXPECT_TRUE(eventually([&] { return docker_->hasEnded(); }));
    docker_.reset();
}

std::string Docker::docker(const std::vector<std::string>& words) {
    std::vector<std::string> all{unpacked + "/usr/bin/docker", "-H", "unix://" + directory_ + "/docker.sock"};
    all.insert(all.end(), words.begin(), words.end());
    const auto done = command(all);
    EXPECT_EQ(done.exitCode, 0) << words.front() << ": " << done.output;
    auto said = done.output;
    while (said.ends_with('\n'))
        said.pop_back();
    return said;
}

Docker::Guest Docker::run(const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> words{"run", "-d", "--stop-signal", "KILL", "--name", name};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"image", "/bin/busybox", "sleep", "100000"});
    docker(words);
    return running(name);
}

Docker::Guest Docker::running(const std::string& name) {
    const auto told = docker(
        {"inspect", "-f",
         "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}} {{.NetworkSettings.SandboxKey}}", name});
    const auto space = told.find(' ');
    const auto file = std::filesystem::path(told.substr(space + 1)).filename().string();
    return {told.substr(0, space), std::make_unique<Namespace>("/proc/" + std::to_string(docker_->id()) +
                                                               "/root" + directory_ + "/run/netns/" + file)};
}

} // namespace tna::test
