// SPDX-License-Identifier: Apache-2.0
// A function that writes rubbish into its rings, its descriptors and its page harms only itself.
#include "netns/functions/functions_fixture.hpp"
#include "netns/functions/rogue.hpp"

#include <atomic>
#include <csignal>
#include <new>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tna/steer.h>
#include <unistd.h>

namespace tna::test {
namespace {

class Rubbish : public FunctionsTest {};

TEST_F(Rubbish, HarmsOnlyTheFunctionItself) {
    startTnad();
    ASSERT_EQ(declare("dns", dnsFunction), "");
    auto* shared = ::mmap(nullptr, sizeof(std::atomic<unsigned>), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto& written = *new (shared) std::atomic<unsigned>{};
    const auto child = ::fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0)
            ::_exit(2);
        Rogue rogue{functionSocket()};
        if (!rogue.good())
            ::_exit(3);
        rogue.tamper();
        std::mt19937 random{1};
        for (;; written++)
            rogue.write(random);
    }
    ASSERT_TRUE(becomes("dns", "connected") || functionNamed("dns")["state"] == "full");
    EXPECT_TRUE(eventually([&] { return written > 100; }));
    for (int i = 0; i < 300; i++) {
        far(0).send(toPort(53)); // whatever becomes of it
        if (i % 30 == 0) {
            (void)far(1).drain();
            far(0).send(toPort(54));
            std::optional<Frame> found;
            for (int tries = 0; tries < 400 && found != toPort(54); tries++)
                found = far(1).receive(std::chrono::seconds(1));
            EXPECT_EQ(found, toPort(54)) << "what is not its own goes as ever";
        }
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it lives still: " << status;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(becomes("dns", "nobody"));
    ::munmap(shared, sizeof written);
    // It may have left frames of its own making under way.
    EXPECT_TRUE(eventually([&] { return nothingAt(0) && nothingAt(1); }));
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    EXPECT_TRUE(eventually([&] {
        far(0).send(toPort(53));
        return arrivesAt(0) == swapped(toPort(53));
    }));
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

} // namespace
} // namespace tna::test
