// SPDX-License-Identifier: Apache-2.0
// What is asked of all there is: whether none of it would look at packets. Of more than is looked at nobody
// says that.
#include "searches.hpp"

#include "support/namespace.hpp"

#include <functional>

namespace tna::test {
namespace {

struct All {
    const char* name;
    unsigned most; ///< of which each is looked at
    /// So many, of which none is in the way.
    std::function<Question(Searches&, unsigned number)> make;
};
void PrintTo(const All& all, std::ostream* out) {
    *out << all.name;
}

/// Queues without a discipline, below an mq.
Question queues(Searches& searches, unsigned number) {
    const auto device = searches.take(4096), root = searches.take(1024), kind = searches.take(256),
               all = searches.take(number * searches.inside(0, QUEUE_SIZE));
    searches.put(device, DEVICE_QDISC, root);
    searches.put(root, QDISC_KIND, kind);
    searches.put(kind, QDISC_KIND_NAME, std::uint64_t{'m' | 'q' << 8});
    searches.put(device, DEVICE_QUEUES, all);
    searches.put(device, DEVICE_QUEUES_NUMBER, number);
    return {KIND_QUEUES, device, 0};
}

/// Packet sockets for a protocol that is not IP, in a circle with the list's head.
Question listeners(Searches& searches, unsigned number) {
    const auto head = searches.take(16);
    auto next = head;
    for (unsigned i = 0; i < number; i++) {
        const auto one = searches.take(256) + 128; // what begins in front of its link
        searches.put(one, next);
        next = one;
    }
    searches.put(head, next);
    return {KIND_LISTENERS, head, 0};
}

/// Packet sockets without a protocol.
Question sockets(Searches& searches, unsigned number) {
    std::uint64_t next = 0;
    for (unsigned i = 0; i < number; i++) {
        const auto one = searches.take(4096) + 512;
        searches.put(one, next);
        next = one;
    }
    return {KIND_SOCKETS, next, 0};
}

/// What parts of the kernel keep for a namespace, none of them br_netfilter; behind a header.
Question partsOfANamespace(Searches& searches, unsigned number) {
    constexpr unsigned header = 3;
    const auto net = searches.take(16384), parts = searches.take((header + number) * 8);
    searches.put(net, NET_GENERIC, parts);
    searches.put(parts, GENERIC_LENGTH, header + number);
    return {KIND_BRNF, net, 0};
}

class LooksAtAll : public ::testing::TestWithParam<All> {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
    }
    static void expectNothingInTheWay(unsigned number, bool nothing) {
        const auto searches = Searches::load();
        if (!searches)
            GTEST_SKIP() << "this kernel cannot be read in place";
        const auto question = GetParam().make(*searches, number);
        if (question.what == KIND_SOCKETS && searches->inside(0, SOCKET_HOOK) == 0)
            GTEST_SKIP() << "this kernel's packet sockets are not known";
        EXPECT_EQ(searches->ask(question.what, question.where) == 0, nothing) << number;
    }
};

TEST_P(LooksAtAll, OfOne) {
    expectNothingInTheWay(1, true);
}
TEST_P(LooksAtAll, UpToItsBound) {
    expectNothingInTheWay(GetParam().most, true);
}
TEST_P(LooksAtAll, AndIsInDoubtAboutMore) {
    expectNothingInTheWay(GetParam().most + 1, false);
}

// The last turn of those that follow links is for the end.
const All guards[] = {
    {"Queues", 64, queues},
    {"Listeners", 15, listeners},
    {"Sockets", 63, sockets},
    {"PartsOfANamespace", 127, partsOfANamespace},
};
INSTANTIATE_TEST_SUITE_P(Bounds, LooksAtAll, testing::ValuesIn(guards),
                         [](const auto& row) { return std::string(row.param.name); });

} // namespace
} // namespace tna::test
