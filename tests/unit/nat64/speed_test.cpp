// SPDX-License-Identifier: Apache-2.0
// How long translating takes, without anything around it; nothing is expected:
// --gtest_also_run_disabled_tests.
#include "expect.hpp"

#include <chrono>

namespace tna::nat64::test {
namespace {

constexpr std::size_t room = 128;

/// Nanoseconds for each of the packets, of many rounds.
double timeOf(Translator& translator, const std::vector<Bytes>& packets) {
    std::vector<Bytes> stored;
    for (const auto& packet : packets) {
        Bytes memory(room);
        memory.insert(memory.end(), packet.begin(), packet.end());
        stored.push_back(memory);
    }
    constexpr std::size_t wanted = 4'000'000;
    std::size_t done = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (Bytes scratch; done < wanted;)
        for (const auto& memory : stored) {
            scratch = memory; // part of the time
            Buffer buffer{scratch.data(), scratch.data() + room, scratch.size() - room};
            if (translator.translate(buffer, 0).fate != Fate::translated)
                return -1;
            done++;
        }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count() /
           static_cast<double>(done);
}

TEST(Speed, DISABLED_OfSmallPackets) {
    for (const std::size_t hosts : {std::size_t{1}, std::size_t{1000}, std::size_t{50000}}) {
        Settings settings;
        settings.addresses.prefix = Prefix::parse("64:ff9b::/96").value();
        ASSERT_TRUE(settings.pool.add("203.0.113.5"));
        Translator translator(settings);
        std::vector<Bytes> out, back;
        for (std::size_t i = 0; i < hosts; i++) {
            auto host = v6("2001:db8::");
            host[14] = static_cast<std::uint8_t>(i >> 8U);
            host[15] = static_cast<std::uint8_t>(i);
            out.push_back(udpPacket({text(host), "64:ff9b::c000:221"}, Bytes(18, 7)));
            const auto result = translate(translator, out.back());
            ASSERT_EQ(result.outcome.fate, Fate::translated);
            const auto port = static_cast<std::uint16_t>(result.packet[20] << 8U | result.packet[21]);
            back.push_back(udpPacket({"192.0.2.33", "203.0.113.5", 53, port}, Bytes(18, 7)));
        }
        fmt::print("{} sessions: to IPv4 {:.0f} ns, to IPv6 {:.0f} ns\n", hosts, timeOf(translator, out),
                   timeOf(translator, back));
    }
    Settings stateless;
    stateless.addresses.prefix = Prefix::parse("64:ff9b::/96").value();
    ASSERT_TRUE(stateless.maps.add("203.0.113.5=2001:db8::1"));
    Translator translator(stateless);
    fmt::print("stateless: to IPv4 {:.0f} ns, to IPv6 {:.0f} ns\n",
               timeOf(translator, {udpPacket({"2001:db8::1", "64:ff9b::c000:221"}, Bytes(18, 7))}),
               timeOf(translator, {udpPacket({"192.0.2.33", "203.0.113.5"}, Bytes(18, 7))}));
}

} // namespace
} // namespace tna::nat64::test
