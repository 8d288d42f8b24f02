// SPDX-License-Identifier: Apache-2.0
// Frames through the pipeline, run by hand: bridged untouched, routed as a router does it, or left to Linux
// untouched; and the same by every profile. The kernel's verifier takes the place of sanitizers. Verdicts and
// reasons guide the search, as nothing tells which of a program's instructions were run.
#include "assemble/modules/bridge.hpp"
#include "assemble/modules/route.hpp"
#include "capability/kernel.hpp"
#include "deploy/load_fast_path.hpp"
#include "deploy/programs/libbpf_log.hpp"
#include "diff/fast_path.hpp"
#include "diff/random/random_case.hpp"
#include "fuzz/guided/target.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cstdlib>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <spdlog/spdlog.h>

namespace tna::fuzz {

namespace {
using diff::Frame;

constexpr unsigned configuration = 3; ///< a bridge of two ports with an address, and two ports with theirs
constexpr std::size_t ethernet = 14, header4 = 20, header6 = 40, largest = 2000;
constexpr unsigned ipv4 = 0x0800, ipv6 = 0x86dd;

[[noreturn]] void skip(const std::string& why) {
    fmt::print("SKIPPED: {}\n", why);
    std::exit(77);
}

template <typename T>
T orSkip(Result<T> result) {
    if (!result)
        skip(result.error().sentence());
    return std::move(*result);
}

/// So many steps of a random case.
diff::Case sample(std::size_t packets) {
    return diff::randomCase(configuration, packets, diff::Kind::routedBridge);
}

struct Ran {
    int verdict;
    Frame frame;
    bool operator==(const Ran&) const = default;
};

bool own(const Frame& frame, std::size_t at) {
    constexpr std::array<std::uint8_t, 5> start{2, 0, 0, 0, 0xff};
    return std::equal(start.begin(), start.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
}

[[nodiscard]] std::size_t kindOf(bool bridged, const Frame& frame);

/// A namespace without a name, with the configuration of a random case, the daemon's controller, and programs
/// of several profiles.
class Bench {
public:
    Bench()
        : far_(orSkip(diff::FarSide::make())),
          world_(orSkip(diff::World::make("fuzz", far_, sample(1).ports))) {
        configure();
        path_.emplace(world_, 64, 0, "auto", false);
        if (const auto started = path_->start(); !started)
            skip(started.error().sentence());
        if (path_->watched())
            skip("the kernel is not read in place here");
        inside_.emplace(orSkip(NamespaceScope::enter(world_.home())));
        load();
    }

    /// A frame that comes in by a port of the bridge, or by one that is routed.
    void check(bool bridged, const Frame& frame) {
        const auto& programs = bridged ? bridged_ : routed_;
        const unsigned ifindex = ::if_nametoindex(bridged ? "p0" : "p3");
        const auto before = loaded_->counters();
        const auto first = run(programs[0], ifindex, frame);
        tell(kindOf(bridged, frame), first, before, loaded_->counters());
        judge(bridged, frame, first);
        const auto second = run(programs[1], ifindex, frame);
        judge(bridged, frame, second);
        // The larger profile may forward what the smaller one leaves to Linux, and nothing else.
        if (first.verdict == XDP_REDIRECT)
            require(first == second, "two profiles do not agree");
        require(run(programs[1], ifindex, frame) == second,
                "a frame is treated in another way when it comes again");
    }

private:
    void configure() {
        const auto what = sample(1);
        const auto must = [&](const std::string& words) {
            const auto said = world_.run(words);
            if (!said || !said->starts_with("0 "))
                skip(words + ": " + (said ? *said : said.error().sentence()));
        };
        for (const auto& step : what.steps)
            if (const auto* command = std::get_if<diff::Command>(&step)) {
                if (sent_)
                    break;
                must(command->words);
            } else if (const auto* packet = std::get_if<diff::Packet>(&step)) {
                sent_ = true;
                if (packet->port < 2 && (packet->frame[0] & 1U) != 0) { // a host says who it is
                    diff::Mac mac{};
                    std::copy_n(packet->frame.begin() + 6, mac.size(), mac.begin());
                    must(fmt::format("bridge fdb replace {} dev p{} master static", diff::text(mac),
                                     packet->port));
                }
            }
    }

    void load() {
        auto probe = orSkip(deploy::KernelProbe::load());
        const auto facts = orSkip(probe.readNamespace());
        const auto kernel = orSkip(capability::probeKernel());
        loaded_ = orSkip(deploy::loadFastPath({16, 256}, facts, kernel.hookFunctions, probe.casts()));
        for (const char* port : {"p0", "p1", "p2", "p3"})
            if (const auto added = loaded_->ports().add(::if_nametoindex(port)); !added)
                skip(added.error().sentence());
        const assemble::Profile bridge{.modules = {assemble::bridgeModule()},
                                       .brNetfilter = kernel.brNetfilter};
        auto both = bridge;
        both.modules.push_back(assemble::routeModule({.bridges = true, .station = {2, 0, 0, 0, 0xff, 0}}));
        bridged_ = {orSkip(loaded_->program(bridge)), orSkip(loaded_->program(both))};
        routed_ = {orSkip(loaded_->program({.modules = {assemble::routeModule()}})),
                   orSkip(loaded_->program({.modules = {assemble::routeModule({.bridges = true})},
                                            .brNetfilter = kernel.brNetfilter}))};
    }

    static Ran run(int program, unsigned ifindex, const Frame& frame) {
        Ran ran{0, Frame(frame.size() + 64)};
        xdp_md context{};
        context.data_end = static_cast<__u32>(frame.size());
        context.ingress_ifindex = ifindex;
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_out = ran.frame.data(),
                    .data_size_in = static_cast<__u32>(frame.size()),
                    .data_size_out = static_cast<__u32>(ran.frame.size()), .ctx_in = &context,
                    .ctx_size_in = sizeof(context), .repeat = 1);
        require(bpf_prog_test_run_opts(program, &options) == 0, "the program cannot be run");
        ran.verdict = static_cast<int>(options.retval);
        ran.frame.resize(options.data_size_out);
        return ran;
    }

    static void tell(std::size_t kind, const Ran& ran,
                     const std::map<model::IfIndex, deploy::PortCounters>& before,
                     const std::map<model::IfIndex, deploy::PortCounters>& after);
    static void judge(bool bridged, const Frame& frame, const Ran& ran);

    diff::FarSide far_;
    diff::World world_;
    std::optional<diff::FastPath> path_;
    std::optional<NamespaceScope> inside_;
    std::unique_ptr<deploy::FastPath> loaded_;
    std::array<int, 2> bridged_{}, routed_{};
    bool sent_ = false;
};

// What libFuzzer takes for coverage: verdicts and reasons, each for frames of every kind.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t seen[4096];

/// By what parsers look at: types, tags, protocol, how long.
std::size_t kindOf(bool bridged, const Frame& frame) {
    const auto type = diff::wordAt(frame, ethernet - 2);
    const auto protocol = diff::byteAt(frame, ethernet + (type == ipv6 ? 6 : 9));
    std::size_t kind = bridged ? 1 : 0;
    for (const std::size_t part : {std::size_t{type}, std::size_t{own(frame, 0)}, std::size_t{protocol},
                                   frame.size() / 64, std::size_t{diff::byteAt(frame, ethernet)}})
        kind = kind * 31 + part;
    return kind;
}

void Bench::tell(std::size_t kind, const Ran& ran,
                 const std::map<model::IfIndex, deploy::PortCounters>& before,
                 const std::map<model::IfIndex, deploy::PortCounters>& after) {
    seen[(kind * 64 + static_cast<std::size_t>(ran.verdict)) % std::size(seen)]++;
    for (const auto& [port, counters] : after)
        for (std::size_t reason = 0; reason < TNA_REASON_COUNT; reason++) {
            const auto found = before.find(port);
            if (counters.slow[reason] != (found == before.end() ? 0 : found->second.slow[reason]))
                seen[(kind * 64 + 8 + reason) % std::size(seen)]++;
        }
}

bool sumsUp(const Frame& frame) {
    return diff::internetChecksum(&frame[ethernet], header4) == 0;
}

/// What a router does, written down in another way than in the fast path.
void judgeRouted(const Frame& in, const Frame& out) {
    const auto type = diff::wordAt(in, ethernet - 2);
    require(diff::wordAt(out, ethernet - 2) == type && (type == ipv4 || type == ipv6),
            "no packet of IP is routed");
    require(own(out, 6) && (out[0] & 1U) == 0, "a packet is not sent by a port to a host");
    const std::size_t ttl = ethernet + (type == ipv4 ? 8 : 7);
    const std::size_t size =
        type == ipv4 ? diff::wordAt(in, ethernet + 2) : header6 + diff::wordAt(in, ethernet + 4);
    require(out.size() == ethernet + size && out.size() <= in.size(), "a packet has another length");
    require(in[ttl] > 1 && out[ttl] == in[ttl] - 1, "the time to live is not one less");
    if (type == ipv4) {
        require(in[ethernet] == 0x45, "a header with options is routed");
        require(sumsUp(in) && sumsUp(out), "a header's checksum is wrong");
    } else {
        require(in[ethernet] >> 4U == 6, "another version of IP is routed");
    }
    for (std::size_t i = ethernet; i < out.size(); i++)
        if (i != ttl && !(type == ipv4 && (i == ethernet + 10 || i == ethernet + 11)))
            require(out[i] == in[i], "a byte is changed that no router changes");
}

void Bench::judge(bool bridged, const Frame& frame, const Ran& ran) {
    require(ran.verdict == XDP_PASS || ran.verdict == XDP_REDIRECT, "a frame is dropped, or sent back");
    if (ran.verdict == XDP_PASS) {
        require(ran.frame == frame, "a frame for Linux is changed");
        return;
    }
    if (own(frame, 0)) {
        judgeRouted(frame, ran.frame);
        return;
    }
    require(bridged, "a frame for somebody else is routed");
    require(ran.frame == frame, "a bridged frame is changed");
    require((frame[0] & 1U) == 0 && (frame[6] & 1U) == 0, "a frame to or from a group is forwarded");
}

Bench* bench;
} // namespace

/// The first byte says where the frame comes in.
std::vector<std::string> seeds() {
    std::vector<std::string> all;
    for (const auto& step : sample(400).steps)
        if (const auto* packet = std::get_if<diff::Packet>(&step);
            packet != nullptr && packet->frame.size() < largest)
            all.push_back(std::string(1, packet->port < 2 ? '\0' : '\1') +
                          std::string(packet->frame.begin(), packet->frame.end()));
    return all;
}

void prepare() {
    spdlog::set_level(spdlog::level::warn);
    deploy::captureLibbpfMessages();
    bench = new Bench;
    std::atexit([] { delete bench; });
}

void run(const std::uint8_t* data, std::size_t size) {
    if (size < 1 + ethernet || size > largest)
        return;
    bench->check(data[0] % 2 == 0, {data + 1, data + size});
}

} // namespace tna::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Most packets with a wrong checksum are no different from each other: usually it is set right.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    size = LLVMFuzzerMutate(data, size, most);
    constexpr std::size_t ip = 1 + tna::fuzz::ethernet, sum = ip + 10;
    if (seed % 4 == 0 || size < ip + tna::fuzz::header4)
        return size;
    data[sum] = data[sum + 1] = 0;
    const auto right = tna::diff::internetChecksum(data + ip, tna::fuzz::header4);
    data[sum] = static_cast<std::uint8_t>(right >> 8U);
    data[sum + 1] = static_cast<std::uint8_t>(right);
    return size;
}
