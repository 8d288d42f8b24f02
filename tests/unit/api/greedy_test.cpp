// SPDX-License-Identifier: Apache-2.0
// One who may only look, and does it as greedily as can be: others notice nothing.
#include "support/eventually.hpp"
#include "support/served.hpp"
#include "unit/api/silent_backend.hpp"

#include <atomic>
#include <deque>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <tna/client.hpp>

namespace tna::test {
namespace {

constexpr uid_t somebody = 1234;
constexpr std::size_t atOnce = 300;

class Greedy : public Served<SilentBackend> {
protected:
    void SetUp() override {
        if (::geteuid() != 0)
            GTEST_SKIP() << "needs root, to be somebody else";
        ::chmod(directory_.c_str(), 0755);
        backend_.padding.assign(std::size_t{1} << 18U, 'x');
        serve();
        ::chmod(path().c_str(), 0666);
    }
    ~Greedy() override {
        stopping_ = true;
        threads_.clear();
    }
    /// Asks again and again on connections that it does not read from, and hangs up on the oldest ones.
    void beGreedy(const std::string& request) {
        threads_.emplace_back([this, request] {
            // By the system call, for this thread alone.
            if (::syscall(SYS_setresuid, somebody, somebody, somebody) != 0)
                return;
            std::deque<UniqueFd> held;
            while (!stopping_) {
                auto fd = connected();
                if (!fd)
                    continue;
                ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
                (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
                held.push_back(std::move(fd));
                if (held.size() > atOnce)
                    held.pop_front();
                asked_++;
            }
        });
    }
    void expectOthersAnswered() {
        ASSERT_TRUE(eventually([&] { return asked_ > 2 * atOnce; }));
        for (int i = 0; i < 50; i++) {
            const auto answer = client::Daemon(path()).get("/v1/status");
            ASSERT_TRUE(answer.good()) << i << ": " << answer.error << answer.body;
        }
    }

    std::atomic<bool> stopping_ = false;
    std::atomic<unsigned> asked_ = 0;
    std::vector<std::jthread> threads_;
};

TEST_F(Greedy, WhoAsksAndDoesNotReadAndComesAgainKeepsNobodyWaiting) {
    beGreedy("GET /v1/graph HTTP/1.1\r\nHost: tna\r\n\r\n");
    expectOthersAnswered();
}

TEST_F(Greedy, WhoAsksForWhatIsRefusedKeepsNobodyWaiting) {
    beGreedy("POST /v1/pause HTTP/1.1\r\nHost: tna\r\nContent-Length: 2\r\n\r\n{}");
    expectOthersAnswered();
    EXPECT_EQ(backend_.changes, 0);
}

TEST_F(Greedy, WhoIsAboutToAskKeepsNobodyWaiting) {
    beGreedy("GET /v1/st");
    expectOthersAnswered();
}

} // namespace
} // namespace tna::test
