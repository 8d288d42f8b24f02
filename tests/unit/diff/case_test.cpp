// SPDX-License-Identifier: Apache-2.0
// Cases as files, and random ones.
#include "diff/case.hpp"
#include "diff/pcapng.hpp"
#include "diff/random/random_case.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace tna::diff {
namespace {

const std::vector<Packet> packets = {{0, Frame(60, 1)}, {1, Frame(61, 2)}, {1, Frame(14, 3)}};

TEST(Script, OfACaseReadsAsThatCase) {
    for (const auto& made : {randomCase(3, 200), randomCase(3, 200, Kind::firewall)}) {
        std::vector<Packet> sent;
        for (const auto& step : made.steps)
            if (const auto* packet = std::get_if<Packet>(&step))
                sent.push_back(*packet);
        const auto read = caseOf(scriptOf(made), sent);
        ASSERT_TRUE(read) << read.error().sentence();
        EXPECT_EQ(*read, made);
    }
}

TEST(Script, SaysWhatBecomesOfConnections) {
    const std::string mark = "mark tcp fd00::2 4000 fd00:0:0:1::2 80 7";
    const auto read = caseOf("@connections 16\n@entry " + mark + "\n@entry flush\n@wait 20\n", {});
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(read->connections, 16U);
    EXPECT_EQ(read->steps, (std::vector<Step>{Directive{Directive::Verb::entry, {}, false, mark},
                                              Directive{Directive::Verb::entry, {}, false, "flush"},
                                              Directive{Directive::Verb::wait, {}, false, "20"}}));
}

TEST(Script, RefusesConnectionsThatCannotBe) {
    for (const auto* script :
         {"@entry\n", "@entry flush all\n", "@entry add sctp 10.0.0.2 1 10.0.1.2 2\n",
          "@entry add udp 10.0.0.2 1 fd00::2 2\n", "@entry add udp 10.0.0.2 65536 10.0.1.2 2\n",
          "@entry add udp 10.0.0 1 10.0.1.2 2\n", "@entry mark udp 10.0.0.2 1 10.0.1.2 2\n",
          "@entry mark udp 10.0.0.2 1 10.0.1.2 2 x\n", "@entry add udp 10.0.0.2 1 10.0.1.2 2 3\n",
          "@connections 99999999999\n", "@connections\n", "@wait\n", "@wait -1\n", "@wait 600001\n"}) {
        const auto read = caseOf(script, {});
        ASSERT_FALSE(read) << script;
        EXPECT_EQ(read.error().code, ExitCode::usage) << script;
    }
}

TEST(Script, SendsAtTheEndWhatNoLineSends) {
    const auto read = caseOf(
        "# a comment\n@ports a b\nip link set a up\n@packets 1\n@capture b on\n@listen a off\n", packets);
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(read->ports, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read->steps,
              (std::vector<Step>{Command{"ip link set a up"}, packets[0],
                                 Directive{Directive::Verb::capture, "b", true},
                                 Directive{Directive::Verb::listen, "a", false}, packets[1], packets[2]}));
}

TEST(Script, SaysWhichLineItDoesNotUnderstand) {
    for (const auto* script :
         {"true\n@carrier p9 on\n", "true\n@carrier p1 maybe\n", "true\n@foo\n", "true\n@start p1\n"}) {
        const auto read = caseOf(script, {});
        ASSERT_FALSE(read) << script;
        EXPECT_TRUE(read.error().sentence().starts_with("line 2: ")) << read.error().sentence();
    }
}

TEST(Script, RefusesPortsAndSizesThatCannotBe) {
    for (const auto* script : {"@ports a a\n", "@ports a/b\n", "@ports ..\n", "@ports sixteenletters..\n",
                               "@flows 0\n", "@flows -1\n", "@flows 99999999999\n", "@carrier p9 on\n"}) {
        const auto read = caseOf(script, {});
        ASSERT_FALSE(read) << script;
        EXPECT_EQ(read.error().code, ExitCode::usage) << script;
    }
}

TEST(PacketFile, GivesBackWhatWasWritten) {
    const std::vector<std::string> ports = {"eth0", "eth1"};
    const auto file = pcapngOf(ports, packets);
    const auto read = packetsOf(file, ports, {});
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(*read, packets);
    // Ports are known by their names.
    const auto swapped = packetsOf(file, {"eth1", "eth0"}, {});
    ASSERT_TRUE(swapped);
    EXPECT_EQ(swapped->front(), (Packet{1, packets[0].frame}));
    EXPECT_FALSE(packetsOf(file, {"eth0"}, {}));
}

TEST(PacketFile, OfTcpdumpBelongsToOnePort) {
    const std::string file("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0"
                           "\0\0\0\0\0\0\0\0\3\0\0\0\3\0\0\0abc",
                           43);
    const auto read = packetsOf(file, {"p0", "p1"}, "p1");
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(*read, (std::vector<Packet>{{1, {'a', 'b', 'c'}}}));
    EXPECT_FALSE(packetsOf(file, {"p0"}, "p1"));
    EXPECT_FALSE(packetsOf(file.substr(0, 42), {"p0"}, "p0"));
}

TEST(PacketFile, DamagedAnywhereIsRefusedOrRead) {
    const auto file = pcapngOf({"p0", "p1"}, packets);
    const auto expectSound = [&](const std::string& bytes) {
        const auto read = packetsOf(bytes, {"p0", "p1"}, "p0");
        if (!read) {
            EXPECT_NE(read.error().sentence(), "") << bytes.size();
            return;
        }
        EXPECT_LE(read->size(), packets.size());
        for (const auto& packet : *read)
            EXPECT_LT(packet.port, 2U);
    };
    for (std::size_t i = 0; i < file.size(); i++) {
        expectSound(file.substr(0, i));
        auto damaged = file;
        damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
        expectSound(damaged);
    }
}

TEST(RandomCase, IsTheSameForTheSameSeed) {
    for (const auto kind : {Kind::any, Kind::bridge, Kind::vlan, Kind::router, Kind::routedBridge,
                            Kind::vlanRouter, Kind::vrf}) {
        EXPECT_EQ(randomCase(7, 300, kind), randomCase(7, 300, kind));
        EXPECT_NE(randomCase(7, 300, kind), randomCase(8, 300, kind));
    }
}

TEST(RandomCase, ChangesWhilePacketsFlow) {
    for (const auto kind :
         {Kind::bridge, Kind::vlan, Kind::router, Kind::routedBridge, Kind::vlanRouter, Kind::vrf})
        for (unsigned seed = 1; seed <= 10; seed++) {
            const auto made = randomCase(seed, 300, kind);
            const auto isPacket = [](const Step& step) { return std::holds_alternative<Packet>(step); };
            const auto first = std::ranges::find_if(made.steps, isPacket);
            const auto changes = std::count_if(first, made.steps.end(), std::not_fn(isPacket));
            EXPECT_GE(changes, 10) << "seed " << seed;
            for (const auto& step : made.steps)
                if (const auto* command = std::get_if<Command>(&step)) {
                    EXPECT_FALSE(command->words.empty()) << "seed " << seed;
                }
        }
}

TEST(RandomCase, HasPacketsOfAllKinds) {
    const auto made = randomCase(5, 20000, Kind::router);
    const auto count = [&](auto matches) {
        return std::ranges::count_if(made.steps, [&](const Step& step) {
            const auto* packet = std::get_if<Packet>(&step);
            return packet != nullptr && matches(packet->frame);
        });
    };
    const auto is4 = [](const Frame& frame) { return wordAt(frame, 12) == 0x0800; };
    const auto is6 = [](const Frame& frame) { return wordAt(frame, 12) == 0x86dd; };
    EXPECT_GT(count(is4), 5000);
    EXPECT_GT(count(is6), 5000);
    EXPECT_GT(count([](const Frame& frame) { return wordAt(frame, 12) == 0x0806; }), 10); // ARP
    EXPECT_GT(count([](const Frame& frame) { return wordAt(frame, 12) == 0x8100; }), 10); // tagged
    EXPECT_GT(count([](const Frame& frame) { return frame.size() < 34; }), 10);
    EXPECT_GT(count([](const Frame& frame) { return frame.size() > 1514; }), 10);
    EXPECT_GT(count([&](const Frame& frame) { return is4(frame) && frame.size() > 22 && frame[22] == 1; }),
              10); // TTL
    EXPECT_GT(count([&](const Frame& frame) { return is4(frame) && byteAt(frame, 14) > 0x45; }),
              10); // options
    EXPECT_GT(count([&](const Frame& frame) { return is4(frame) && (wordAt(frame, 20) & 0x3fffU) != 0; }),
              10);
    for (const unsigned extension : {0U, 43U, 44U, 51U, 60U})
        EXPECT_GT(count([&](const Frame& frame) { return is6(frame) && byteAt(frame, 20) == extension; }),
                  10);
}

} // namespace
} // namespace tna::diff
