// SPDX-License-Identifier: Apache-2.0
// Hosts with an IPv4 address each that send to each other by these addresses (RFC 7757, 4).
#include "expect.hpp"

namespace tna::nat64::test {
namespace {

constexpr const char *first = "2001:db8:a::8", *first4 = "198.51.100.8";
constexpr const char *second = "2001:db8:b::9", *second4 = "198.51.100.9";
const std::string firstInPrefix = "64:ff9b::198.51.100.8", secondInPrefix = "64:ff9b::198.51.100.9";

class MappedHosts : public ::testing::Test {
protected:
    static Settings settings() {
        Settings settings;
        settings.addresses.prefix = Prefix::parse("64:ff9b::/96").value();
        EXPECT_TRUE(settings.maps.add(std::string(first4) + "=" + first));
        EXPECT_TRUE(settings.maps.add(std::string(second4) + "=" + second));
        settings.errorSource = v4("203.0.113.1");
        return settings;
    }
    Translator translator_{settings()};
};

/// Else the answer would come from an address that nobody has sent to.
TEST_F(MappedHosts, AnswersComeFromWhereWasSentTo) {
    expectBecomes(translator_, udpPacket({first, secondInPrefix, 4000, 53}),
                  udpPacket({firstInPrefix, second, 4000, 53}));
    expectBecomes(translator_, udpPacket({second, firstInPrefix, 53, 4000}),
                  udpPacket({secondInPrefix, first, 53, 4000}));
    expectBecomes(translator_, echoPacket({first, secondInPrefix}, 128, 7),
                  echoPacket({firstInPrefix, second}, 128, 7));
}

TEST_F(MappedHosts, ErrorsAreAboutWhatWasSent) {
    const auto sent = udpPacket({first, secondInPrefix, 4000, 53});
    const auto got = udpPacket({firstInPrefix, second, 4000, 53});
    expectBecomes(translator_, errorPacket({second, firstInPrefix}, 1, 4, got),
                  errorPacket({secondInPrefix, first}, 1, 4, sent));
    expectBecomes(translator_, errorPacket({"2001:db8::99", firstInPrefix}, 3, 0, got),
                  errorPacket({"64:ff9b::203.0.113.1", first}, 3, 0, sent));
}

/// On the way there is a third one that has an IPv4 address: it is who has sent the error.
TEST_F(MappedHosts, ErrorsOfMappedRoutersAreTheirs) {
    auto settings = MappedHosts::settings();
    ASSERT_TRUE(settings.maps.add("198.51.100.7=2001:db8:c::7"));
    Translator translator(settings);
    expectBecomes(
        translator,
        errorPacket({"2001:db8:c::7", firstInPrefix}, 3, 0, udpPacket({firstInPrefix, second, 4000, 53})),
        errorPacket({"2001:db8:c::7", first}, 3, 0, udpPacket({first, secondInPrefix, 4000, 53})));
}

TEST_F(MappedHosts, OthersGoOnInIpv4) {
    const More numbered{.id = 0, .dontFragment = false};
    expectBecomes(translator_, udpPacket({first, "64:ff9b::192.0.2.1", 4000, 53}),
                  udpPacket({first4, "192.0.2.1", 4000, 53}, Bytes(20, 7), numbered));
    // by the address that its own IPv4 address stands for: IPv4's side is asked for
    expectBecomes(translator_, udpPacket({first, second, 4000, 53}),
                  udpPacket({first4, second4, 4000, 53}, Bytes(20, 7), {.id = 1, .dontFragment = false}));
    expectBecomes(translator_, udpPacket({second4, first4, 53, 4000}), udpPacket({second, first, 53, 4000}));
}

} // namespace
} // namespace tna::nat64::test
