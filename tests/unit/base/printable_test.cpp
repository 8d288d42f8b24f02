// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace tna {
namespace {

TEST(Printable, LeavesWhatIsOnlyShown) {
    for (const std::string text :
         {"eth0", "br-lan.10@x", "caf\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "a\\x1b", ""})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsWhatControlsTerminals) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
    EXPECT_EQ(printable(std::string("\0\x7f\r\n\t", 5)), "\\x00\\x7f\\x0d\\x0a\\x09");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\u{9b}31m"); // as ESC [
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "0hte"),
              "\\u{202e}0hte"); // from right to left
}

TEST(Printable, ShowsWhatIsNoUtf8ByteByByte) {
    EXPECT_EQ(printable("\x9b"
                        "31m"),
              "\\x9b31m");
    EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(printable("\xc3"), "\\xc3");                            // ends too early
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                   // longer than needed
    EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");          // likewise
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // half of a pair
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // beyond the last one
}

TEST(Printable, LinesStay) {
    EXPECT_EQ(printableLines("a\tb\n\x1b[2J\r\n"), "a\tb\n\\x1b[2J\\x0d\n");
}

TEST(Printable, EveryPairOfBytesIsShownOrHarmless) {
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            const std::string text{static_cast<char>(first), static_cast<char>(second)};
            const auto shown = printable(text);
            EXPECT_EQ(printable(shown), shown);
            for (const char letter : shown)
                EXPECT_TRUE(static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f);
        }
}

TEST(Printable, WidthIsInCharacters) {
    EXPECT_EQ(widthOf("caf\xc3\xa9"), 4U);
    EXPECT_EQ(widthOf(""), 0U);
}

} // namespace
} // namespace tna
