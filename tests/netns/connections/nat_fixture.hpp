// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ways_fixture.hpp"

namespace tna::test {

inline constexpr unsigned anotherSource = 1, anotherDestination = 2;

/// Connections of UDP whose packets get another source, another destination, or both.
template <typename Router, unsigned Steps>
class TranslatedOf : public Ways<Router> {
protected:
    static constexpr bool six = Ways<Router>::six;
    static constexpr const char* host = six ? "fd00::2" : "10.0.0.2";
    static constexpr const char* server = six ? "fd00:0:0:1::2" : "10.0.1.2";
    static constexpr const char* service = six ? "fd00:0:0:9::9" : "10.0.9.9"; // which becomes the server
    static constexpr const char* outside = six ? "fd00:0:0:1::9" : "10.0.1.9"; // which the host becomes
    static constexpr bool redirected = (Steps & anotherDestination) != 0,
                          hidden = (Steps & anotherSource) != 0;

    std::string rules() override {
        return "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
               " ct state established,related accept; };"
               " chain before { type nat hook prerouting priority -100; };"
               " chain after { type nat hook postrouting priority 100; }; }";
    }
    void translate(Connection& connection) override {
        if (redirected) {
            connection.to = service;
            connection.toPort = 80;
        }
        connection_ = connection;
    }
    EntryWords words() override {
        EntryWords words;
        if (hidden) {
            words.source = outside;
            words.sourcePort = 4001;
        }
        if (redirected) {
            words.destination = server;
            words.destinationPort = 5000;
        }
        return words;
    }
    /// As the host sends it, or (from port 1) the server.
    static Frame sent(unsigned in, std::size_t payload = 26) {
        if (in == 0)
            return withPorts(frame(0, 1, host, redirected ? service : server, payload), 4000,
                             redirected ? 80 : 5000);
        return withPorts(frame(1, 2, server, hidden ? outside : host, payload), 5000, hidden ? 4001 : 4000);
    }
    static Frame frame(unsigned in, unsigned from, const char* source, const char* destination,
                       std::size_t payload) {
        const auto port = RouteTest::portMac(in), sender = station(from);
        if constexpr (six)
            return ipv6Frame(port, sender,
                             {.from = source, .to = destination, .next = IPPROTO_UDP, .payload = payload});
        else
            return ipv4Frame(port, sender, {.from = source, .to = destination, .payload = payload});
    }
    static void checksum(Frame& frame, std::uint16_t value) { put(frame, six ? 60 : 40, value); }

    /// What Linux has made of frames.
    void beforehand() override {
        for (const unsigned in : {0U, 1U})
            for (const std::size_t payload : {10U, 26U, 27U, 111U, 1400U})
                ask(sent(in, payload), in);
        if (!six)
            for (const unsigned in : {0U, 1U}) {
                auto without = sent(in);
                checksum(without, 0);
                ask(without, in);
            }
    }
    void ask(const Frame& frame, unsigned in) {
        const auto out = this->treated(frame, in).out;
        EXPECT_TRUE(out.contains(1 - in)) << "from port " << in;
        asked_.push_back({frame, in, out});
    }
    void learned() {
        for (const unsigned in : {0U, 1U})
            EXPECT_EQ(this->treated(sent(in), in).path.fast, 0U);
    }
    void expectAllAsAsked() {
        for (const auto& [frame, in, out] : asked_) {
            EXPECT_EQ(this->treated(frame, in), (Treatment{fastPath(), out})) << "from port " << in;
            if (this->HasFailure())
                return;
        }
    }
    void expectNotFast() {
        for (const unsigned in : {0U, 1U})
            EXPECT_EQ(this->treated(sent(in), in).path.fast, 0U);
    }

    struct Asked {
        Frame frame;
        unsigned in;
        Arrivals out;
    };
    Connection connection_;
    std::vector<Asked> asked_;
};

} // namespace tna::test
