// SPDX-License-Identifier: Apache-2.0
// Sockets are found by the queues of ports, also where two queues have the same hash.
#include "steer_fixture.hpp"
#include "support/command.hpp"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace tna::test {
namespace {

using Queue = tna_steer_queue_key;
constexpr unsigned queues = 256;

std::uint32_t cellOf(Queue queue) {
    return TNA_STEER_CELL_HASH(TNA_STEER_CELL(queue.ifindex, queue.queue, 0U));
}

/// A queue of this port, and the first one of another port, which may have any number.
std::pair<Queue, Queue> alikeOf(unsigned ifindex) {
    for (unsigned other = 1000;; other++)
        for (unsigned queue = 0; queue < queues; queue++)
            if (cellOf({ifindex, queue}) == cellOf({other, 0}))
                return {{ifindex, queue}, {other, 0}};
}

class SteerSockets : public SteerTest {
protected:
    void SetUp() override {
        SteerTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        must("ip link add p1 numrxqueues 256 numtxqueues 256 type veth peer name q1");
        must("ip link set p1 up");
        one_ = ::if_nametoindex("p1");
        alike_ = alikeOf(one_);
        must(fmt::format("ip link add p2 index {} type veth peer name q2", alike_.second.ifindex));
        must("ip link set p2 up");
        const functions::Declaration declared{.name = "f", .ports = {"p1", "p2"}, .rules = {{}}};
        const functions::Steered steered{1, &declared, {0}};
        const auto table = functions::makeTable({&steered, 1}, {{"p1", one_}, {"p2", alike_.second.ifindex}});
        ASSERT_TRUE(table);
        ASSERT_TRUE(alone_.steering->replace(*table));
        struct stat space{};
        ASSERT_EQ(::stat("/proc/thread-self/ns/net", &space), 0);
        const auto netns = static_cast<std::uint32_t>(space.st_ino);
        ASSERT_TRUE(
            alone_.steering->setFunction(1, {.flags = 0, .longest = 4096, .last = 0, .netns = netns}));
        socket_ = UniqueFd{::socket(AF_XDP, SOCK_RAW, 0)};
        ASSERT_TRUE(socket_);
    }

    void connect(Queue queue, unsigned place) {
        auto made = deploy::makeFunctionPage();
        ASSERT_TRUE(made);
        auto page = alone_.steering->takePage(place, std::move(*made));
        ASSERT_TRUE(page) << page.error().sentence();
        pages_.push_back(std::move(*page));
        const auto done = alone_.steering->connect(queue, {.place = place, .function = 1}, socket_.get());
        ASSERT_TRUE(done) << done.error().sentence();
    }

    void receive(Queue queue) {
        const auto frame = frameOf({});
        xdp_md context{};
        context.data_end = static_cast<__u32>(frame.bytes.size());
        context.ingress_ifindex = queue.ifindex;
        context.rx_queue_index = queue.queue;
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes.data(),
                    .data_size_in = static_cast<__u32>(frame.bytes.size()), .ctx_in = &context,
                    .ctx_size_in = sizeof(context), .repeat = 1);
        ASSERT_EQ(bpf_prog_test_run_opts(alone_.program.get(), &options), 0);
        EXPECT_EQ(options.retval, XDP_PASS);
    }

    /// How many frames have found the queue's socket, which has no room for any.
    std::optional<std::uint64_t> found(Queue queue) {
        const auto counted = alone_.steering->counters(queue);
        return counted ? std::optional(counted->full) : std::nullopt;
    }

    unsigned one_ = 0;
    std::pair<Queue, Queue> alike_; ///< they have the same cell
    UniqueFd socket_;
    std::vector<UniqueFd> pages_; ///< of all that were connected, in order
};

TEST_F(SteerSockets, QueuesOfTheSameHashHaveTheirOwn) {
    const auto& [one, other] = alike_;
    ASSERT_NO_FATAL_FAILURE(connect(one, 5));
    receive(other);
    EXPECT_EQ(found(one), 0U);
    EXPECT_EQ(found(other), std::nullopt);
    ASSERT_NO_FATAL_FAILURE(connect(other, 6));
    receive(other);
    receive(other);
    receive(one);
    EXPECT_EQ(found(one), 1U);
    EXPECT_EQ(found(other), 2U);
}

TEST_F(SteerSockets, OneThatIsTakenOutLeavesTheOthersWhereTheyAre) {
    const auto& [one, other] = alike_;
    ASSERT_NO_FATAL_FAILURE(connect(one, 5));
    ASSERT_NO_FATAL_FAILURE(connect(other, 6));
    alone_.steering->disconnect(one, 5);
    receive(one);
    receive(other);
    EXPECT_EQ(found(one), std::nullopt);
    EXPECT_EQ(found(other), 1U);
    ASSERT_NO_FATAL_FAILURE(connect(one, 5));
    receive(one);
    EXPECT_EQ(found(one), 1U);
}

TEST_F(SteerSockets, PageOfWhoIsGoneIsNotTheNextOnes) {
    const auto& one = alike_.first;
    // the place that is prepared first, and another one
    for (const unsigned place : {0U, 40U}) {
        for (unsigned turn = 0; turn < 3; turn++) {
            ASSERT_NO_FATAL_FAILURE(connect(one, place));
            EXPECT_EQ(deploy::placesOn(pages_.back().get()), 0U);
            const __u32 zero = 0;
            const tna_steer_page many{.places = 1000};
            for (std::size_t i = 0; i + 1 < pages_.size(); i++)
                ASSERT_EQ(bpf_map_update_elem(pages_[i].get(), &zero, &many, BPF_ANY), 0);
            EXPECT_EQ(deploy::placesOn(pages_.back().get()), 0U);
            receive(one);
            EXPECT_EQ(found(one), 1U) << "it has made no places: another page is looked at";
            alone_.steering->disconnect(one, place);
        }
    }
}

TEST_F(SteerSockets, AsManyAsThereAreHaveRoom) {
    for (unsigned queue = 0; queue + 1 < queues; queue++)
        ASSERT_NO_FATAL_FAILURE(connect({one_, queue}, queue));
    for (unsigned queue = 0; queue + 1 < queues; queue++) {
        receive({one_, queue});
        EXPECT_EQ(found({one_, queue}), 1U) << queue;
    }
}

} // namespace
} // namespace tna::test
