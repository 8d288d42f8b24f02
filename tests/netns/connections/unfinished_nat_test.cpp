// SPDX-License-Identifier: Apache-2.0
// What a machine behind a tap leaves to the hardware, and connection tracking translates: segments that are
// yet to be cut, checksums that are yet to be written. Plain Linux does each first.
#include "nat_fixture.hpp"
#include "support/tap.hpp"

namespace tna::test {
namespace {

/// The tap takes p0's place.
template <typename Router>
class UnfinishedTranslated : public TranslatedOf<Router, anotherSource | anotherDestination> {
protected:
    static constexpr std::uint16_t udp = UnfinishedTranslated::six ? 54 : 34;

    void SetUp() override {
        this->config_.ports.tcxKinds = {"veth", "tun"};
        TranslatedOf<Router, anotherSource | anotherDestination>::SetUp();
        if (!this->IsSkipped()) {
            ASSERT_TRUE(this->reaches("tap0", "accelerated"));
        }
    }
    void beforehand() override {
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip address flush dev p0");
        must("ip link set tap0 address " + text(RouteTest::portMac(0)) + " up");
        this->becomes("tap0", 0);
        this->becomes("p0", 7);
        must("ethtool -K p1 gso off tso off tx off sg off");
        for (const std::size_t payload : {10U, 27U, 1400U})
            for (const int sum : {-1, 1, 2, 0x1234, 0x7fff, 0x8000, 0xfffe, 0xffff})
                toBeFast(payload, sum, {});
        toBeFast(3000, -1, 1000);
        ASSERT_TRUE(left_.front().out.contains(1));
        zero_ = leave(26, 0, {});
    }
    struct Left {
        Frame frame;
        Unfinished unfinished;
        Arrivals out;
    };
    /// The sum of the addresses and of the length, as a sender leaves it; or (not -1) another one.
    Left leave(std::size_t payload, int sum, std::uint16_t segment) {
        auto frame = this->sent(0, payload);
        if (sum < 0) {
            const auto length = frame.bytes.size() - udp;
            std::vector<std::uint8_t> summed(frame.bytes.begin() + udp - (UnfinishedTranslated::six ? 32 : 8),
                                             frame.bytes.begin() + udp);
            summed.insert(summed.end(), {0, IPPROTO_UDP, static_cast<std::uint8_t>(length >> 8U),
                                         static_cast<std::uint8_t>(length)});
            sum = 0xffff ^ internetChecksum(summed.data(), summed.size());
        }
        this->checksum(frame, static_cast<std::uint16_t>(sum));
        Left left{
            .frame = frame, .unfinished = {.flags = 1, .checksumStart = udp, .checksumOffset = 6}, .out = {}};
        if (segment != 0) {
            left.unfinished.gsoType = 5; // VIRTIO_NET_HDR_GSO_UDP_L4
            left.unfinished.headerLength = udp + 8;
            left.unfinished.gsoSize = segment;
        }
        left.out = comesOf(left);
        return left;
    }
    void toBeFast(std::size_t payload, int sum, std::uint16_t segment) {
        auto left = leave(payload, sum, segment);
        if (segment == 0 || left.out.contains(1)) // not every kernel cuts those of UDP that come from taps
            left_.push_back(std::move(left));
    }
    Arrivals comesOf(const Left& left) {
        (void)this->arrivals();
        tap_->send(left.frame, left.unfinished);
        return this->arrivals();
    }
    [[nodiscard]] nlohmann::json shown() const { return *this->controller_->port("tap0"); }
    [[nodiscard]] std::uint64_t fast() const {
        return shown()["port"]["fast_packets"].template get<std::uint64_t>();
    }

    std::optional<Tap> tap_;
    std::vector<Left> left_;
    Left zero_;
};
using Protocols = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(UnfinishedTranslated, Protocols);

TYPED_TEST(UnfinishedTranslated, AreAsLinuxMakesThem) {
    (void)this->comesOf(this->left_.front());
    for (const auto& left : this->left_) {
        const auto before = this->fast();
        EXPECT_EQ(this->comesOf(left), left.out);
        EXPECT_EQ(this->fast(), before + 1);
    }
    const auto before = this->fast();
    EXPECT_EQ(this->comesOf(this->zero_), this->zero_.out);
    EXPECT_EQ(this->fast(), before) << "it is none for some kernels, and one for others";
}

/// iptables' target CHECKSUM, for receivers that look at what no hardware has seen.
TYPED_TEST(UnfinishedTranslated, AreLinuxsWhereRulesFinishThem) {
    const std::string tables = this->six ? "ip6tables-nft" : "iptables-nft";
    if (command(
            {tables, "-t", "mangle", "-A", "POSTROUTING", "-p", "udp", "-j", "CHECKSUM", "--checksum-fill"})
            .exitCode != 0)
        GTEST_SKIP() << "this kernel has no target CHECKSUM";
    this->rulesAreKnown();
    auto finished = this->left_.front();
    finished.frame = this->sent(0, 10);
    finished.unfinished = {};
    ASSERT_TRUE(eventually([&] {
        const auto before = this->fast();
        (void)this->comesOf(finished);
        return this->fast() == before + 1;
    }));
    const auto before = this->fast();
    EXPECT_EQ(this->comesOf(this->left_.front()), this->left_.front().out);
    EXPECT_EQ(this->fast(), before);
    (void)this->comesOf(finished);
    EXPECT_EQ(this->fast(), before + 1);
    // As libvirt has it, that is no matter.
    must(tables + " -t mangle -F POSTROUTING");
    must(tables + " -t mangle -A POSTROUTING -p udp --dport 68 -j CHECKSUM --checksum-fill");
    this->rulesAreKnown();
    EXPECT_TRUE(eventually([&] {
        const auto last = this->fast();
        EXPECT_EQ(this->comesOf(this->left_.front()), this->left_.front().out);
        return this->fast() == last + 1;
    }));
}

} // namespace
} // namespace tna::test
