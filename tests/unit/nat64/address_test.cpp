// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "options.hpp"

#include <gmock/gmock.h>

namespace tna::nat64::test {
namespace {

using ::testing::HasSubstr;

/// RFC 6052, 2.4, has this table.
TEST(Prefixes, HaveAddressesWhereTheRfcHasThem) {
    const std::pair<const char*, const char*> rows[]{
        {"2001:db8::/32", "2001:db8:c000:221::"},
        {"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
        {"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
        {"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
        {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
        {"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"},
        {"64:ff9b::/96", "64:ff9b::192.0.2.33"},
    };
    for (const auto& [text, address] : rows) {
        const auto prefix = Prefix::parse(text);
        ASSERT_TRUE(prefix) << text;
        EXPECT_EQ(prefix->embed(v4("192.0.2.33")), v6(address)) << text;
        EXPECT_EQ(prefix->extract(v6(address)), v4("192.0.2.33")) << text;
        EXPECT_EQ(prefix->isWellKnown(), std::string(text).starts_with("64:")) << text;
        EXPECT_FALSE(prefix->extract(v6("2001:db9::1")));
    }
}

TEST(Prefixes, WrongOnesAreRefused) {
    for (const auto* text :
         {"64:ff9b::/95", "64:ff9b::1/96", "2001:db8:0:0:ff00::/96", "64:ff9b::/960", "x/96", "64:ff9b::"})
        EXPECT_FALSE(Prefix::parse(text)) << text;
    for (const auto* text : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0/8", ""})
        EXPECT_FALSE(parsePrefix4(text)) << text;
}

TEST(OptionsOfNat64, AreOfOneKind) {
    Options options;
    EXPECT_THAT(settingsOf(options).error().sentence(), HasSubstr("--pool"));
    options.maps = {"192.0.2.1=2001:db8::1"};
    EXPECT_TRUE(settingsOf(options));
    options.pool = {"192.0.2.1"};
    EXPECT_THAT(settingsOf(options).error().sentence(), HasSubstr("one of both"));
    options.maps.clear();
    EXPECT_TRUE(settingsOf(options));
    for (const auto* wrong :
         {"192.0.2.1:0-5", "192.0.2.1:9-5", "192.0.2.1:5", "192.0.0.0/16", "127.0.0.1", "192.0.2"}) {
        options.pool = {wrong};
        const auto settings = settingsOf(options);
        ASSERT_FALSE(settings) << wrong;
        EXPECT_THAT(settings.error().sentence(), HasSubstr(wrong));
        EXPECT_EQ(settings.error().code, ExitCode::usage);
    }
    options.pool = {"192.0.2.0/30", "192.0.2.3"};
    EXPECT_FALSE(settingsOf(options)) << "twice";
}

TEST(MapsOfAddresses, AreOneToOne) {
    Maps maps;
    EXPECT_TRUE(maps.add("192.0.2.1=2001:db8::1"));
    EXPECT_FALSE(maps.add("192.0.2.1=2001:db8::2"));
    EXPECT_FALSE(maps.add("192.0.2.2=2001:db8::1"));
    EXPECT_FALSE(maps.add("192.0.2.2"));
    EXPECT_EQ(maps.to4(v6("2001:db8::1")), v4("192.0.2.1"));
    EXPECT_EQ(maps.to6(v4("192.0.2.1")), v6("2001:db8::1"));
}

} // namespace
} // namespace tna::nat64::test
