// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packets.hpp"

#include <gtest/gtest.h>

namespace tna::nat64::test {

/// It is translated, to that.
inline void expectBecomes(Translator& translator, const Bytes& packet, const Bytes& result,
                          std::uint32_t now = 0) {
    const auto done = translate(translator, packet, now);
    ASSERT_EQ(done.outcome.reason, Reason::none)
        << reasonWords[static_cast<std::size_t>(done.outcome.reason)];
    EXPECT_EQ(done.outcome.fate, Fate::translated);
    EXPECT_EQ(hex(done.packet), hex(result));
}
inline void expectLeft(Translator& translator, const Bytes& packet, Reason reason, std::uint32_t now = 0) {
    const auto done = translate(translator, packet, now);
    EXPECT_EQ(done.outcome.reason, reason);
    EXPECT_EQ(done.outcome.fate, Fate::leftAlone);
    EXPECT_EQ(hex(done.packet), hex(packet)) << "and nothing is changed";
}

} // namespace tna::nat64::test
