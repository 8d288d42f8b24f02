// SPDX-License-Identifier: Apache-2.0
#include "lookup_fixture.hpp"

#include <arpa/inet.h>
#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <fdb_lookup.skel.h>
#include <fstream>
#include <linux/if_link.h>
#include <net/if.h>

namespace tna::test {

namespace {
constexpr std::size_t addresses = 12;
constexpr std::size_t tagSize = 4;

bool kernelHas(const std::string& function) {
    std::ifstream symbols("/proc/kallsyms");
    for (std::string address, type, name, rest; symbols >> address >> type >> name;
         std::getline(symbols, rest))
        if (name == function)
            return true;
    return false;
}

std::uint16_t word(const Frame& frame, std::size_t at) {
    return static_cast<std::uint16_t>(frame.bytes.at(at) << 8U | frame.bytes.at(at + 1));
}

bool isTpid(std::uint16_t type) {
    return type == 0x8100 || type == 0x88a8;
}

/// The frame after what was told about its tag.
Frame retagged(Frame frame, const Answer& answer) {
    auto& bytes = frame.bytes;
    const auto tag = bytes.begin() + addresses;
    switch (answer.tag) {
    case BPF_BR_FDB_TAG_PUSH: {
        const std::array<std::uint8_t, tagSize> pushed{
            static_cast<std::uint8_t>(answer.tpid >> 8U), static_cast<std::uint8_t>(answer.tpid),
            static_cast<std::uint8_t>(answer.vlan >> 8U), static_cast<std::uint8_t>(answer.vlan)};
        bytes.insert(tag, pushed.begin(), pushed.end());
        break;
    }
    case BPF_BR_FDB_TAG_POP:
        bytes.erase(tag, tag + tagSize);
        break;
    case BPF_BR_FDB_TAG_SET:
        bytes[addresses + 2] = static_cast<std::uint8_t>((bytes[addresses + 2] & 0xf0U) | answer.vlan >> 8U);
        bytes[addresses + 3] = static_cast<std::uint8_t>(answer.vlan);
        break;
    default:
        break;
    }
    return frame;
}
} // namespace

void PrintTo(const Answer& answer, std::ostream* out) {
    constexpr std::array<const char*, 8> names{"forward", "local",     "flood", "learn",
                                               "blocked", "no egress", "skb",   "no port"};
    *out << (answer.ret >= 0 && answer.ret < 8 ? names.at(static_cast<unsigned>(answer.ret))
                                               : std::to_string(answer.ret))
         << ", device '" << answer.device << "', vlan " << answer.vlan << ", tag " << int{answer.tag};
}

LookupTest::LookupTest() = default;
LookupTest::~LookupTest() = default;

void LookupTest::Close::operator()(fdb_lookup* skeleton) const {
    fdb_lookup::destroy(skeleton);
}

void LookupTest::SetUp() {
    if (!kernelHas("bpf_xdp_br_fdb_lookup"))
        GTEST_SKIP() << "this kernel has no bpf_xdp_br_fdb_lookup (see kernel-patches/README.md)";
    BridgeTest::SetUp();
    if (IsSkipped())
        return;
    skeleton_.reset(fdb_lookup::open_and_load());
    ASSERT_TRUE(skeleton_) << "libbpf cannot load the test's programs: " << std::strerror(errno);
    for (const char* port : {"p0", "p1", "p2"})
        makeReady(port);
    opens(0, {1, 2}); // programs on the ports make their links go down and up
}

void LookupTest::makeReady(const std::string& device) const {
    ASSERT_EQ(bpf_xdp_attach(static_cast<int>(::if_nametoindex(device.c_str())),
                             bpf_program__fd(skeleton_->progs.pass), XDP_FLAGS_DRV_MODE, nullptr),
              0)
        << device;
}

bpf_br_fdb_lookup LookupTest::describe(const Frame& frame, std::uint32_t flags) {
    bpf_br_fdb_lookup question{};
    std::memcpy(question.dst, frame.bytes.data(), sizeof(question.dst));
    std::memcpy(question.src, frame.bytes.data() + sizeof(question.dst), sizeof(question.src));
    if (isTpid(word(frame, addresses))) {
        question.vlan_proto = htons(word(frame, addresses));
        question.vid = word(frame, addresses + 2) & 0xfffU;
    }
    question.flags = flags;
    return question;
}

Answer LookupTest::run(int program, const bpf_br_fdb_lookup& question, void* context,
                       std::uint32_t size) const {
    std::array<std::uint8_t, 64> data{}; // the kfuncs look at the description only
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = data.data(), .data_size_in = data.size(),
                .ctx_in = context, .ctx_size_in = size);
    skeleton_->bss->question = question;
    skeleton_->bss->answer = -1000;
    EXPECT_EQ(bpf_prog_test_run_opts(program, &options), 0) << std::strerror(errno);
    EXPECT_EQ(skeleton_->bss->answer_to_short, -EINVAL);
    const auto& told = skeleton_->bss->question;
    Answer answer{skeleton_->bss->answer, "", told.vlan, ntohs(told.tpid), told.tag};
    std::array<char, IF_NAMESIZE> name{};
    if (told.ifindex != 0 && ::if_indextoname(told.ifindex, name.data()) != nullptr)
        answer.device = name.data();
    return answer;
}

Answer LookupTest::askAs(const bpf_br_fdb_lookup& question, const std::string& device) {
    const auto ifindex = ::if_nametoindex(device.c_str());
    xdp_md xdp{};
    xdp.data_end = 64;
    xdp.ingress_ifindex = ifindex;
    __sk_buff skb{};
    skb.ifindex = ifindex;
    const auto answer = run(bpf_program__fd(skeleton_->progs.ask_xdp), question, &xdp, sizeof(xdp));
    EXPECT_EQ(run(bpf_program__fd(skeleton_->progs.ask_skb), question, &skb, sizeof(skb)), answer);
    return answer;
}

Answer LookupTest::ask(const Frame& frame, unsigned port, std::uint32_t flags) {
    return askAs(describe(frame, flags), "p" + std::to_string(port));
}

int LookupTest::agreed(const Frame& frame, unsigned port) {
    const auto answer = ask(frame, port);
    const auto out = treat(frame, port).out;
    switch (answer.ret) {
    case BPF_BR_FDB_RET_FORWARD: {
        const auto egress = static_cast<unsigned>(answer.device.at(1) - '0');
        EXPECT_EQ(out, (Arrivals{{egress, {retagged(frame, answer)}}})) << ::testing::PrintToString(answer);
        break;
    }
    case BPF_BR_FDB_RET_LOCAL:
    case BPF_BR_FDB_RET_BLOCKED:
    case BPF_BR_FDB_RET_NO_EGRESS:
        EXPECT_EQ(out, Arrivals{}) << ::testing::PrintToString(answer);
        break;
    default: // the bridge does as it sees fit
        break;
    }
    return answer.ret;
}

} // namespace tna::test
