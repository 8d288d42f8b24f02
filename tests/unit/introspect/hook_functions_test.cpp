// SPDX-License-Identifier: Apache-2.0
// What netfilter calls, read from answers as the kernel gives them, and from answers that are not whole.
#include "introspect/hook_functions.hpp"
#include "message_builder.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>

namespace tna::test {
namespace {

using introspect::readHookFunctions;
using netlink::MessageHandler;
using Outcome = netlink::Socket::Outcome;

MessageBuilder answer(std::uint8_t family, std::uint32_t hook, const char* function, bool ofTables = false) {
    MessageBuilder builder(NFNL_MSG_HOOK_GET, nfgenmsg{family, NFNETLINK_V0, 0});
    builder.put(NFNLA_HOOK_HOOKNUM, htonl(hook))
        .put(NFNLA_HOOK_PRIORITY, htonl(static_cast<std::uint32_t>(-200)));
    builder.text(NFNLA_HOOK_FUNCTION_NAME, function).text(NFNLA_HOOK_MODULE_NAME, "a_module");
    if (ofTables)
        builder.nest(NFNLA_HOOK_CHAIN_INFO,
                     [](auto& chain) { chain.put(NFNLA_HOOK_INFO_TYPE, htonl(NFNL_HOOK_TYPE_NFTABLES)); });
    return builder;
}
void say(const MessageBuilder& builder, const MessageHandler& handler) {
    const auto bytes = builder.bytes();
    handler(firstMessage(bytes));
}
/// All places are empty but that of IPv4 at forward.
introspect::HookDump atForward(std::function<Outcome(const MessageHandler&)> forward) {
    return [forward = std::move(forward)](std::uint8_t family, std::uint32_t hook,
                                          const MessageHandler& handler) {
        return family == NFPROTO_IPV4 && hook == NF_INET_FORWARD ? forward(handler) : Outcome{};
    };
}

TEST(HookFunctions, AreReadOfAllPlaces) {
    int asked = 0;
    const auto found =
        readHookFunctions([&](std::uint8_t family, std::uint32_t hook, const MessageHandler& handler) {
            ++asked;
            say(answer(family, hook, "nft_do_chain", hook == NF_INET_FORWARD), handler);
            return Outcome{};
        });
    EXPECT_EQ(asked, 3 * NF_INET_NUMHOOKS);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), static_cast<std::size_t>(asked));
    const auto& forward = found->at(NF_INET_FORWARD);
    EXPECT_EQ(forward.family, model::RuleFamily::ip);
    EXPECT_EQ(forward.hook, static_cast<std::uint32_t>(NF_INET_FORWARD));
    EXPECT_EQ(forward.priority, -200);
    EXPECT_EQ(forward.function, "nft_do_chain");
    EXPECT_EQ(forward.module, "a_module");
    EXPECT_TRUE(forward.ofTables);
    EXPECT_FALSE(found->front().ofTables);
}

TEST(HookFunctions, NoneIsAnAnswer) {
    const auto found = readHookFunctions(atForward([](const MessageHandler&) { return Outcome{}; }));
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->empty());
}

TEST(HookFunctions, AnyErrorMeansThatTheyAreNotKnown) {
    for (const int error : {EINVAL, EOPNOTSUPP, EPROTONOSUPPORT, ENOENT, EPERM, ENOMEM, ENOBUFS})
        EXPECT_FALSE(readHookFunctions(atForward([&](const MessageHandler&) {
            return Outcome{error, false};
        }))) << error;
}

TEST(HookFunctions, ThatChangeMeanwhileAreReadAgainAFewTimes) {
    int times = 0;
    int changes = 1;
    const auto dump = atForward([&](const MessageHandler& handler) {
        say(answer(NFPROTO_IPV4, NF_INET_FORWARD, "one"), handler);
        return Outcome{0, times++ < changes};
    });
    const auto found = readHookFunctions(dump);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size(), 1U) << "those of the reading that was whole";
    changes = 1000;
    EXPECT_FALSE(readHookFunctions(dump));
    EXPECT_LT(times, 10);
}

TEST(HookFunctions, OneThatIsNotUnderstoodMeansThatTheyAreNotKnown) {
    const auto with = [](const MessageBuilder& builder) {
        return readHookFunctions(atForward([&](const MessageHandler& handler) {
                   say(builder, handler);
                   return Outcome{};
               }))
            .has_value();
    };
    EXPECT_TRUE(with(answer(NFPROTO_IPV4, NF_INET_FORWARD, "one")));
    EXPECT_FALSE(with(answer(NFPROTO_IPV4, NF_INET_LOCAL_IN, "one"))) << "of another place";
    EXPECT_FALSE(with(answer(NFPROTO_IPV6, NF_INET_FORWARD, "one"))) << "of another family";
    EXPECT_FALSE(with(MessageBuilder(NFNL_MSG_HOOK_GET, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0})));
}

} // namespace
} // namespace tna::test
