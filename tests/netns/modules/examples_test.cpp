// SPDX-License-Identifier: Apache-2.0
// The examples do what they say.
#include "modules_fixture.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <set>
#include <sys/mman.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class Examples : public AcceleratedBridgeTest {
protected:
    void write(const std::string& module, const std::string& map, const void* value, __u32 key = 0) {
        const auto fd = modules_.map(module, map);
        ASSERT_EQ(bpf_map_update_elem(fd.get(), &key, value, BPF_ANY), 0);
    }
    static Frame from(Frame frame, unsigned host) {
        frame.bytes[29] = static_cast<std::uint8_t>(host);
        return frame;
    }

    ModuleControl modules_{controller_};
};

TEST_F(Examples, MonitorCountsFlows) {
    modules_.insert("monitor", exampleObject("monitor"));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto document = controller_->modules().find("monitor", "flows");
    ASSERT_TRUE(document);
    const auto& entries = (*document)["entries"];
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0]["key"], "{{10,0,0,1,},{10,0,0,2,},4000,4001,17,}");
    EXPECT_NE(entries[0]["values"].dump().find("3,180,"), std::string::npos) << entries;
    EXPECT_FALSE(controller_->modules().find("monitor", "tna_next")) << "not a map of its own";
}

TEST_F(Examples, RateIsLimitedForEachSource) {
    modules_.insert("rate-limit", exampleObject("rate-limit"));
    EXPECT_EQ(send(oneToTwo()), fastPath()) << "no limit yet";
    const __u32 limit[] = {1, 3}; // one in a second, three at once
    write("rate-limit", "limit", limit);
    std::size_t passed = 0;
    for (int i = 0; i < 20; i++)
        passed += treat(from(oneToTwo(), 7)).out.size();
    EXPECT_GE(passed, 3U);
    EXPECT_LT(passed, 20U);
    EXPECT_EQ(treat(from(oneToTwo(), 8)).out.size(), 1U) << "another source";
}

TEST_F(Examples, BalancerKeepsFlowsTogetherAndMovesOnlyThoseOfALostServer) {
    must("bridge fdb replace " + text(station(3)) + " dev p2 master static");
    modules_.insert("balancer", exampleObject("load-balancer"), {.ports = {"p0"}});
    struct Server {
        std::uint8_t mac[6];
        std::uint16_t up;
        std::uint32_t id;
    };
    const auto server = [&](__u32 number, bool up) {
        Server value{{}, up, 100 + number};
        const auto mac = station(number + 2);
        std::memcpy(value.mac, mac.data(), sizeof(value.mac));
        write("balancer", "servers", &value, number);
    };
    server(0, true);
    server(1, true);
    const std::uint8_t service[] = {10, 0, 0, 2, 2, 0, 0, 0};
    write("balancer", "service", service);
    const auto goesTo = [&](unsigned host) {
        auto frame = from(FrameBuilder().ethernet(station(2), station(1)).udp(), host);
        const auto treatment = treat(frame);
        EXPECT_EQ(treatment.out.size(), 1U);
        const unsigned port = treatment.out.empty() ? 0 : treatment.out.begin()->first;
        const auto wanted = station(port + 1);
        std::copy(wanted.begin(), wanted.end(), frame.bytes.begin());
        EXPECT_EQ(treatment, (Treatment{fastPath(), {{port, {frame}}}}));
        return port;
    };
    std::map<unsigned, unsigned> before;
    for (unsigned host = 10; host < 40; host++)
        before[host] = goesTo(host);
    std::map<unsigned, unsigned> share;
    for (const auto& [host, port] : before)
        share[port]++;
    EXPECT_GT(share[1], 5U);
    EXPECT_GT(share[2], 5U);
    server(1, false);
    for (const auto& [host, port] : before)
        EXPECT_EQ(goesTo(host), 1U);
    server(1, true);
    for (const auto& [host, port] : before)
        EXPECT_EQ(goesTo(host), port);
}

struct Sample {
    std::uint32_t length, ingress, egress, reason, routed;
    std::uint8_t frame[64];
};

TEST_F(Examples, SamplerTellsTheReason) {
    modules_.insert("sampler", exampleObject("sampler"));
    const std::uint32_t always = 1;
    write("sampler", "settings", &always);
    const auto map = modules_.map("sampler", "samples");
    std::vector<Sample> samples;
    const auto take = [](void* list, void* data, std::size_t size) {
        EXPECT_EQ(size, sizeof(Sample));
        static_cast<std::vector<Sample>*>(list)->push_back(*static_cast<Sample*>(data));
        return 0;
    };
    std::unique_ptr<ring_buffer, void (*)(ring_buffer*)> ring{
        ring_buffer__new(map.get(), take, &samples, nullptr), ring_buffer__free};
    ASSERT_TRUE(ring);
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(send(FrameBuilder().ethernet(station(77), station(1)).udp()), slowPath("unknown-unicast"));
    ring_buffer__consume(ring.get());
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].egress, ::if_nametoindex("p1"));
    EXPECT_EQ(samples[0].ingress, ::if_nametoindex("p0"));
    EXPECT_EQ(std::memcmp(samples[0].frame, oneToTwo().bytes.data(), 34), 0);
    EXPECT_EQ(samples[1].egress, 0U);
    EXPECT_EQ(samples[1].reason, unsigned{TNA_REASON_UNKNOWN_UNICAST});
}

/// An AF_XDP socket that takes frames of one queue, by the system's own calls.
class XdpSocket {
public:
    explicit XdpSocket(const std::string& interface)
        : fd_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)),
          memory_(static_cast<std::uint8_t*>(::mmap(nullptr, frames * frameSize, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        xdp_umem_reg area{};
        area.addr = reinterpret_cast<std::uintptr_t>(memory_);
        area.len = std::uint64_t{frames} * frameSize;
        area.chunk_size = frameSize;
        const int size = frames;
        good_ = fd_ && ::setsockopt(fd_.get(), SOL_XDP, XDP_UMEM_REG, &area, sizeof(area)) == 0;
        for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
            good_ = good_ && ::setsockopt(fd_.get(), SOL_XDP, ring, &size, sizeof(size)) == 0;
        socklen_t length = sizeof(offsets_);
        good_ = good_ && ::getsockopt(fd_.get(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets_, &length) == 0;
        if (!good_)
            return;
        fill_ = map(offsets_.fr.desc + frames * sizeof(std::uint64_t), XDP_UMEM_PGOFF_FILL_RING);
        received_ = map(offsets_.rx.desc + frames * sizeof(xdp_desc), XDP_PGOFF_RX_RING);
        for (unsigned i = 0; i < frames; i++)
            reinterpret_cast<std::uint64_t*>(fill_ + offsets_.fr.desc)[i] = std::uint64_t{i} * frameSize;
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(fill_ + offsets_.fr.producer), frames,
                         __ATOMIC_RELEASE);
        sockaddr_xdp address{};
        address.sxdp_family = AF_XDP;
        address.sxdp_flags = XDP_COPY;
        address.sxdp_ifindex = ::if_nametoindex(interface.c_str());
        good_ = ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }
    ~XdpSocket() { ::munmap(memory_, frames * frameSize); }
    XdpSocket(const XdpSocket&) = delete;
    XdpSocket& operator=(const XdpSocket&) = delete;

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] int fd() const { return fd_.get(); }
    std::optional<Frame> receive() {
        const auto producer = __atomic_load_n(
            reinterpret_cast<std::uint32_t*>(received_ + offsets_.rx.producer), __ATOMIC_ACQUIRE);
        if (producer == taken_)
            return std::nullopt;
        const auto& entry = reinterpret_cast<xdp_desc*>(received_ + offsets_.rx.desc)[taken_++ % frames];
        return Frame{{memory_ + entry.addr, memory_ + entry.addr + entry.len}};
    }

private:
    static constexpr unsigned frames = 64;
    static constexpr unsigned frameSize = 4096;
    std::uint8_t* map(std::size_t size, std::uint64_t offset) const {
        return static_cast<std::uint8_t*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_POPULATE, fd_.get(),
                                                 static_cast<off_t>(offset)));
    }

    UniqueFd fd_;
    std::uint8_t* memory_;
    xdp_mmap_offsets offsets_{};
    std::uint8_t* fill_ = nullptr;
    std::uint8_t* received_ = nullptr;
    std::uint32_t taken_ = 0;
    bool good_ = false;
};

TEST_F(Examples, SteeredPacketsArriveAtTheSocketAndOthersAsEver) {
    modules_.insert("steer", exampleObject("steer"), {.ports = {"p0"}});
    const std::uint32_t wanted = 4001;
    write("steer", "wanted", &wanted);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}})) << "nobody listens yet";
    XdpSocket socket{"p0"};
    if (!socket.good())
        GTEST_SKIP() << "this kernel has no AF_XDP sockets";
    const __u32 descriptor = static_cast<__u32>(socket.fd());
    write("steer", "sockets", &descriptor);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{{}, {}}));
    EXPECT_EQ(socket.receive(), oneToTwo());
    const auto other = toUdpPort(oneToTwo(), 4002);
    EXPECT_EQ(treat(other), (Treatment{fastPath(), {{1, {other}}}}));
    EXPECT_EQ(socket.receive(), std::nullopt);
    EXPECT_EQ(modules_.said("steer", "ingress"), (Said{{"socket", 1}, {"continue", 2}}));
}

} // namespace
} // namespace tna::test
