// SPDX-License-Identifier: Apache-2.0
// Flows whose addresses and ports Linux translates: what comes out is what plain Linux has made of the same
// frames, byte by byte.
#include "base/file.hpp"
#include "nat_fixture.hpp"
#include "support/own_objects.hpp"

namespace tna::test {
namespace {

template <typename Router>
class Translated : public TranslatedOf<Router, anotherSource | anotherDestination> {};
TYPED_TEST_SUITE(Translated, Routers);

TYPED_TEST(Translated, AreAsLinuxMakesThem) {
    this->learned();
    this->expectAllAsAsked();
}

/// A bridge calls the rules of pre-routing, which put another destination in before the bridge looks at it.
template <typename Router>
class TranslatedByABridge : public TranslatedOf<Router, anotherSource | anotherDestination> {
protected:
    void beforehand() override {
        const std::string calls =
            std::string("net.bridge.bridge-nf-call-") + (this->six ? "ip6tables" : "iptables");
        if (command({"sysctl", "-n", calls}).exitCode != 0)
            GTEST_SKIP() << "this kernel has no br_netfilter";
        sysctl(calls.c_str(), "1");
        TranslatedOf<Router, anotherSource | anotherDestination>::beforehand();
    }
};
using CallingRouters = ::testing::Types<FromBridge, FromBridge6, FromBridgeToBridge, FromBridgeToBridge6>;
TYPED_TEST_SUITE(TranslatedByABridge, CallingRouters);

TYPED_TEST(TranslatedByABridge, AreAsLinuxMakesThem) {
    this->learned();
    this->expectAllAsAsked();
}

TYPED_TEST(Translated, AreLinuxsWhenARuleForbidsThem) {
    this->learned();
    this->expectAllAsAsked();
    must("nft insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(this->sent(0), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

template <typename Way>
class TranslatedEither : public Way {};
using Either =
    ::testing::Types<TranslatedOf<RouteTest, anotherSource>, TranslatedOf<Route6Test, anotherSource>,
                     TranslatedOf<RouteTest, anotherDestination>,
                     TranslatedOf<Route6Test, anotherDestination>,
                     TranslatedOf<RouteTest, anotherSource | anotherDestination>,
                     TranslatedOf<Route6Test, anotherSource | anotherDestination>>;
TYPED_TEST_SUITE(TranslatedEither, Either);

TYPED_TEST(TranslatedEither, AreAsLinuxMakesThem) {
    this->learned();
    this->expectAllAsAsked();
}

TYPED_TEST(TranslatedEither, AreLinuxsWhenTheConnectionIsForgotten) {
    this->learned();
    this->expectAllAsAsked();
    ASSERT_EQ(removeConnection(this->connection_), 0);
    for (int i = 0; i < 2; i++)
        this->expectNotFast();
}

/// A DHCP client may listen where they leave.
class TranslatedForDhcp : public TranslatedOf<RouteTest, anotherSource | anotherDestination> {
protected:
    EntryWords words() override {
        auto words = TranslatedOf::words();
        words.destinationPort = 68;
        return words;
    }
    void beforehand() override {}
};

TEST_F(TranslatedForDhcp, AreLinuxs) {
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treated(sent(0), 0).path.fast, 0U);
}

TYPED_TEST(TranslatedEither, OfOtherPortsAreLinuxs) {
    this->learned();
    this->expectAllAsAsked();
    for (const unsigned in : {0U, 1U})
        for (const auto& [from, to] : {std::pair{4000, 5001}, std::pair{4007, 5000}, std::pair{4007, 80}})
            EXPECT_EQ(this->treated(withPorts(this->sent(in), static_cast<std::uint16_t>(from),
                                              static_cast<std::uint16_t>(to)),
                                    in)
                          .path.fast,
                      0U);
    this->expectAllAsAsked();
}

/// Beside a capture each packet deserves a closer look.
TYPED_TEST(TranslatedEither, AreAsLinuxMakesThemBesideCaptures) {
    this->learned();
    const auto socket = this->capture("lo", 0x0003);
    if (this->treated(this->sent(0), 0).path == slowPath("capture"))
        GTEST_SKIP() << "in this kernel, whoever captures somewhere may capture anywhere";
    this->expectAllAsAsked();
}

/// The same packets, and then other translations of them, perhaps by an entry that lies where the other one
/// was.
template <typename Way>
class TranslatedOtherwise : public Way {
protected:
    enum Otherwise { asEver, anotherPort, anotherAddress, bothOthers };

    EntryWords words() override {
        auto words = Way::words();
        const bool source = !words.source.empty();
        if (otherwise_ == anotherPort || otherwise_ == bothOthers)
            (source ? words.sourcePort : words.destinationPort) = 4002;
        if (otherwise_ == anotherAddress || otherwise_ == bothOthers)
            (source ? words.source : words.destination).back() = '7';
        return words;
    }
    void become(Otherwise otherwise) {
        otherwise_ = otherwise;
        ASSERT_EQ(removeConnection(this->connection_), 0);
        ASSERT_EQ(addConnection(this->connection_, words()), 0);
    }
    void beforehand() override {
        must(std::string("ip neigh replace ") + (Way::six ? "fd00:0:0:1::7" : "10.0.1.7") + " lladdr " +
             text(station(7)) + " dev p1 nud permanent");
        for (const auto otherwise : all) {
            become(otherwise);
            linux_.push_back(this->treated(this->sent(0), 0).out);
            EXPECT_TRUE(linux_.back().contains(1));
        }
        become(asEver);
    }
    static constexpr std::array all{asEver, anotherPort, anotherAddress, bothOthers};
    std::vector<Arrivals> linux_;

private:
    Otherwise otherwise_ = asEver;
};
TYPED_TEST_SUITE(TranslatedOtherwise, Either);

TYPED_TEST(TranslatedOtherwise, AreLinuxsAtFirst) {
    EXPECT_EQ(this->treated(this->sent(0), 0).path.fast, 0U);
    auto before = this->asEver;
    for (const auto from : this->all)
        for (const auto to : this->all)
            for (const auto otherwise : {from, to}) {
                this->become(otherwise);
                const auto& linux = this->linux_.at(otherwise);
                const auto first = this->treated(this->sent(0), 0);
                EXPECT_EQ(first.out, linux) << otherwise;
                EXPECT_TRUE(first.path.fast == 0 || otherwise == before) << before << " then " << otherwise;
                EXPECT_EQ(this->treated(this->sent(0), 0), (Treatment{fastPath(), linux}));
                if (this->HasFailure())
                    return;
                before = otherwise;
            }
}

/// Those that come behind the decision are not told of it.
TYPED_TEST(TranslatedEither, AreLinuxsBesideCustomModules) {
    this->learned();
    this->expectAllAsAsked();
    const auto object = readFile(TNA_MODULE);
    ASSERT_TRUE(object);
    const auto placed = this->controller_->modules().place("module", *object, {.hooks = {"route"}}, false);
    ASSERT_TRUE(placed) << placed.error().sentence();
    EXPECT_EQ(ownPrograms("tna_on_route"), 1U) << "the module's own: it is a part of the pipeline";
    for (const auto& [frame, in, out] : this->asked_)
        EXPECT_EQ(this->treated(frame, in), (Treatment{slowPath("flow-translated"), out}));
    ASSERT_TRUE(this->controller_->modules().remove("module"));
    this->expectAllAsAsked();
}

/// Where nobody looks at checksums, those that are wrong stay wrong by as much.
template <typename Way>
class TranslatedChecksums : public Way {
protected:
    void beforehand() override {
        sysctl("net.netfilter.nf_conntrack_checksum", "0");
        for (const unsigned in : {0U, 1U}) {
            auto frame = this->sent(in);
            this->checksum(frame, 1);
            const auto out = this->treated(frame, in).out;
            ASSERT_TRUE(out.contains(1 - in));
            const auto at = this->tag(frame, 1 - in).bytes.size() - frame.bytes.size() + (Way::six ? 60 : 40);
            const auto& bytes = out.at(1 - in).front().bytes;
            const int became = bytes.at(at) << 8 | bytes.at(at + 1);
            // This one becomes 0, or what stands for it.
            const int zero = (1 - became + 2 * 0xffff) % 0xffff;
            for (const int value :
                 {0, 1, 2, 0x1234, 0x7fff, 0x8000, 0xfffd, 0xfffe, 0xffff, zero, zero + 1, zero + 0xfffe})
                if (const auto sum = static_cast<std::uint16_t>(value % 0x10000); sum != 0 || !Way::six) {
                    this->checksum(frame, sum);
                    this->ask(frame, in);
                }
        }
    }
};
TYPED_TEST_SUITE(TranslatedChecksums, Either);

TYPED_TEST(TranslatedChecksums, AreAsLinuxMakesThem) {
    this->learned();
    this->expectAllAsAsked();
}

} // namespace
} // namespace tna::test
