// SPDX-License-Identifier: Apache-2.0
// A firewall in XDP, a custom module, and a balancer in user space behind it.
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"
#include "bench/functions/flow_map.hpp"
#include "bench/functions/function.hpp"
#include "firewall.skel.h"

#include <bpf/bpf.h>
#include <cerrno>
#include <thread>

namespace tna::bench {

namespace {
constexpr double patience = 20; // seconds
constexpr auto pollInterval = std::chrono::milliseconds(3);

class Hybrid : public Contestant {
public:
    Hybrid(std::unique_ptr<FunctionContestant> function, UniqueFd counts)
        : function_(std::move(function)), counts_(std::move(counts)) {}
    Result<Counted> dropped() override {
        auto behind = function_->dropped();
        if (behind)
            behind->frames += sumOfProcessors(counts_.get(), 0);
        return behind;
    }
    std::string complaint() override { return function_->complaint(); }
    bool ended() override { return function_->ended(); }

private:
    std::unique_ptr<FunctionContestant> function_;
    UniqueFd counts_;
};

/// Custom modules are on accelerated ports, and a bridge with one port has nothing to accelerate.
Result<void> makeBridge(const std::string& device) {
    for (const auto& words :
         {std::string{"ip link add b0 type bridge"}, std::string{"ip link add d1 type veth peer name s0"},
          fmt::format("ip link set {} master b0", device), std::string{"ip link set d1 master b0 up"},
          std::string{"ip link set s0 up"}, std::string{"ip link set b0 up"}})
        if (auto done = runCommand(words); !done)
            return done;
    return {};
}

Result<UniqueFd> mapOf(const nlohmann::json& module, std::string_view name) {
    for (const auto& map : module.value("maps", nlohmann::json::array()))
        if (map.value("name", "") == name) {
            UniqueFd fd{bpf_map_get_fd_by_id(map.value("id", 0U))};
            if (!fd)
                return failErrno(errno, "cannot open the module's map '{}'", name);
            return fd;
        }
    return fail("tnad names no map '{}' of the module", name);
}

/// The map of what it has dropped.
Result<UniqueFd> insertFirewall(Tnad& tnad, const std::string& device) {
    std::size_t size = 0;
    const auto* bytes = static_cast<const char*>(firewall__elf_bytes(&size));
    if (auto inserted = tnad.put("/v1/modules/firewall?port=" + device, {bytes, size}); !inserted)
        return std::unexpected(inserted.error());
    const auto module = tnad.get("/v1/modules/firewall");
    if (!module)
        return std::unexpected(module.error());
    const auto blocked = mapOf(*module, "blocked");
    if (!blocked)
        return std::unexpected(blocked.error());
    if (auto filled = fillFlows(blocked->get(), workload::blockedFlow, chainRules); !filled)
        return std::unexpected(filled.error());
    return mapOf(*module, "counts");
}

/// Before, what the firewall has dropped would look like frames that both have treated.
Result<void> awaitConnected(FunctionContestant& function) {
    for (const double start = monotonicNow(); monotonicNow() - start < patience && !function.ended();
         std::this_thread::sleep_for(pollInterval))
        if (const auto now = function.tnad().get("/v1/functions/work");
            now && now->value("state", "") == "connected")
            return {};
    return std::unexpected(Error{"tna-workload is not connected to tnad", function.complaint(), {}});
}
} // namespace

Started startHybrid(const Contest& contest) {
    const auto& place = contest.side.place();
    {
        const auto inside = NamespaceScope::enter(place.device());
        if (!inside)
            return std::unexpected(inside.error());
        if (auto made = makeBridge(place.deviceName()); !made)
            return std::unexpected(made.error());
    }
    auto function = FunctionContestant::start(contest, false, 0);
    if (!function)
        return std::unexpected(function.error());
    auto& tnad = (*function)->tnad();
    if (auto accelerated = tnad.waitAccelerated(2); !accelerated)
        return std::unexpected(accelerated.error());
    auto counts = insertFirewall(tnad, place.deviceName());
    if (!counts)
        return std::unexpected(counts.error());
    if (auto connected = awaitConnected(**function); !connected)
        return std::unexpected(connected.error());
    return std::make_unique<Hybrid>(std::move(*function), std::move(*counts));
}

} // namespace tna::bench
