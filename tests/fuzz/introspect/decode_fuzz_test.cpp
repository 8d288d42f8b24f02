// SPDX-License-Identifier: Apache-2.0
// Netlink messages with random faults, through every decoder. Each lies in memory that ends where it ends, so
// that the address sanitizer (preset asan) sees every step too far.
#include "fuzz/introspect/messages.hpp"
#include "support/mangle.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>

namespace tna::test {
namespace {

constexpr unsigned rounds = 150000;

TEST(FuzzDecoders, SpoiltMessagesHarmNobody) {
    const auto seeds = sampleMessages();
    Mangler mangler(1);
    std::uint64_t messages = 0, understood = 0;
    for (unsigned i = 0; i < rounds; i++) {
        auto bytes = seeds[mangler.below(seeds.size())];
        if (mangler.below(4) == 0) {
            const auto& second = seeds[mangler.below(seeds.size())];
            bytes.insert(bytes.end(), second.begin(), second.end());
        }
        bytes = mangler.mangle(std::move(bytes));
        bytes.shrink_to_fit();
        netlink::Bytes rest(bytes);
        while (const auto message = netlink::Message::next(rest)) {
            messages++;
            const auto decoded = decodeAsEverything(*message);
            EXPECT_EQ(decoded.wrong, "");
            understood += decoded.understood;
        }
    }
    EXPECT_GT(messages, rounds / 4) << "nearly nothing got past the first header";
    EXPECT_GT(understood, rounds / 4) << "nearly nothing was decoded";
}

/// Any bytes at all, as attributes nested in attributes.
TEST(FuzzDecoders, RandomBytesAreNoAttributes) {
    Mangler mangler(2);
    for (unsigned i = 0; i < rounds; i++) {
        std::vector<std::byte> bytes(mangler.below(64));
        for (auto& byte : bytes)
            byte = static_cast<std::byte>(mangler.below(mangler.below(2) == 0 ? 16 : 256));
        const auto attributes = netlink::Attributes::parse(bytes);
        if (!attributes)
            continue;
        std::size_t payload = 0;
        attributes->forEach([&](const netlink::Attribute& attribute) {
            payload += attribute.payload.size() + sizeof(nlattr);
            (void)netlink::Attributes::parse(attribute.payload);
        });
        EXPECT_LE(payload, bytes.size());
    }
}

} // namespace
} // namespace tna::test
