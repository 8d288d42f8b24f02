// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/contestant.hpp"

#include "bench/functions/flow_map.hpp"
#include "bench/functions/idle_socket.hpp"
#include "bench/traffic/traffic.hpp"
#include "work.skel.h"

#include <bit>
#include <bpf/bpf.h>
#include <cerrno>
#include <linux/bpf.h>
#include <optional>

namespace tna::bench {

namespace {
using workload::Work;

/// The programs, loaded for one case.
class Programs {
public:
    explicit Programs(::work* loaded) : loaded_(loaded) {}
    ~Programs() { work__destroy(loaded_); }
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;
    [[nodiscard]] ::work& operator*() const { return *loaded_; }

private:
    ::work* loaded_;
};

class Xdp : public Contestant {
public:
    Xdp(std::unique_ptr<Programs> programs, std::optional<IdleSocket> socket, UniqueFd link)
        : programs_(std::move(programs)), socket_(std::move(socket)), link_(std::move(link)) {}
    Result<Counted> dropped() override {
        return Counted{sumOfProcessors(bpf_map__fd((**programs_).maps.counts), 0), monotonicNow()};
    }

private:
    std::unique_ptr<Programs> programs_;
    std::optional<IdleSocket> socket_;
    UniqueFd link_;
};

Result<std::unique_ptr<Programs>> load(const FunctionsCase& one) {
    auto* programs = work__open();
    if (programs == nullptr)
        return failErrno(errno, "cannot open the programs that treat frames");
    auto owner = std::make_unique<Programs>(programs);
    const auto settings = settingsOf(one);
    constexpr std::array<std::uint32_t, 3> then{XDP_TX, XDP_DROP, XDP_PASS};
    auto& data = *programs->rodata;
    data.kind = static_cast<std::uint32_t>(one.work);
    data.then = then.at(static_cast<std::size_t>(one.which));
    data.times = settings.times;
    const bool filters = one.work == Work::firewall || one.work == Work::chain;
    const auto lines = one.work == Work::lookup ? std::bit_ceil(static_cast<unsigned>(settings.entries)) : 1;
    data.mask = lines - 1;
    bpf_map__set_max_entries(programs->maps.lines, lines);
    if (filters)
        bpf_map__set_max_entries(programs->maps.blocked, static_cast<unsigned>(settings.entries));
    if (one.work == Work::chain)
        bpf_map__set_max_entries(programs->maps.sessions, static_cast<unsigned>(settings.sessions));
    if (work__load(programs) != 0)
        return failErrno(errno, "cannot load the programs that treat frames");
    if (filters)
        if (auto filled = fillFlows(bpf_map__fd(programs->maps.blocked), workload::blockedFlow,
                                    static_cast<unsigned>(settings.entries));
            !filled)
            return std::unexpected(filled.error());
    if (one.work == Work::chain)
        if (auto filled = fillFlows(bpf_map__fd(programs->maps.sessions), workload::sessionFlow,
                                    static_cast<unsigned>(settings.sessions));
            !filled)
            return std::unexpected(filled.error());
    return owner;
}
} // namespace

Started startXdp(const Contest& contest, bool withSocket) {
    auto programs = load(contest.one);
    if (!programs)
        return std::unexpected(programs.error());
    const auto& place = contest.side.place();
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    std::optional<IdleSocket> socket;
    if (withSocket) {
        auto bound = IdleSocket::bind(place.deviceName());
        if (!bound)
            return std::unexpected(bound.error());
        socket.emplace(std::move(*bound));
    }
    auto link = attachXdp(bpf_program__fd((***programs).progs.treat), place.deviceName());
    if (!link)
        return std::unexpected(link.error());
    return std::make_unique<Xdp>(std::move(*programs), std::move(socket), std::move(*link));
}

} // namespace tna::bench
