// SPDX-License-Identifier: Apache-2.0
// Containers that are started and stopped, one after the other, on one bridge and by the same name: each is
// fast, and nothing is left of it.
#include "host_fixture.hpp"

#include "base/file.hpp"

#include <filesystem>

namespace tna::test {
namespace {

class Many : public Host {
protected:
    void SetUp() override {
        Host::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        makeBridge();
        first_ = attach("first", "br0", "10.7.0.2", "10.7.0.1");
    }
    void TearDown() override {
        first_.inside.reset();
        Host::TearDown();
    }
    [[nodiscard]] std::size_t descriptors() const {
        const std::filesystem::directory_iterator all("/proc/" + std::to_string(tnad_->id()) + "/fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    /// Its memory, in pages.
    [[nodiscard]] double memory() const {
        const auto all = readFile("/proc/" + std::to_string(tnad_->id()) + "/statm").value_or("0 0");
        return std::stod(all.substr(all.find(' ')));
    }

    Guest first_;
};

/// TNA_TEST_CONTAINERS in the environment: as many of them, more than 24; 200 take a minute.
TEST_F(Many, ContainersLeaveNothingBehind) {
    const char* wanted = std::getenv("TNA_TEST_CONTAINERS");
    const int containers = wanted != nullptr ? std::atoi(wanted) : 32;
    accelerate(1);
    if (IsSkipped())
        return;
    const auto one = [&] {
        const auto next = attach("next", "br0", "10.7.0.3", "10.7.0.1");
        ASSERT_TRUE(accelerated(2)) << ports().dump();
        // A port forwards when its carrier has been noticed, for which the kernel takes up to a second.
        EXPECT_TRUE(eventually([&] { return reaches(*next.inside, first_.address); }));
        EXPECT_TRUE(eventually([&] { return reaches(*first_.inside, next.address); }));
        must("ip link del next");
    };
    for (int i = 0; i < 5; i++)
        one();
    ASSERT_TRUE(accelerated(1)) << ports().dump();
    const auto open = descriptors();
    const auto used = memory();
    for (int i = 0; i < containers && !HasFailure(); i++)
        one();
    ASSERT_TRUE(accelerated(1)) << ports().dump();
    // Of profiles that come and go, eight programs are kept, which have three descriptors each; but
    // containers leave none.
    constexpr std::size_t kept = std::size_t{3} * 8;
    EXPECT_LE(descriptors(), open + kept);
    EXPECT_LT(memory(), used * 1.1);
}

} // namespace
} // namespace tna::test
