// SPDX-License-Identifier: Apache-2.0
// A firewall by nftables: a set of connections, and a rule that drops them, as early as it can.
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <arpa/inet.h>
#include <nlohmann/json.hpp>

namespace tna::bench {

namespace {
class Nftables : public Contestant {
public:
    Nftables(TemporaryFolder folder, const NetNamespace& where) : folder_(std::move(folder)), where_(where) {}
    /// It is counted somewhere between nft's beginning and its end.
    Result<Counted> dropped() override {
        const auto inside = NamespaceScope::enter(where_);
        if (!inside)
            return std::unexpected(inside.error());
        const auto file = folder_.path() + "/counter";
        const double before = monotonicNow();
        if (auto listed = runProgram({"sh", "-c", "nft -j list counter netdev bench dropped >" + file});
            !listed)
            return std::unexpected(listed.error());
        const double after = monotonicNow();
        const auto document = nlohmann::json::parse(readFile(file).value_or(""), nullptr, false);
        if (document.is_object())
            for (const auto& one : document.value("nftables", nlohmann::json::array()))
                if (one.contains("counter"))
                    return Counted{one["counter"].value("packets", std::uint64_t{0}), (before + after) / 2};
        return fail("nft does not tell what its rule has dropped");
    }

private:
    TemporaryFolder folder_;
    const NetNamespace& where_;
};

std::string addressText(std::uint32_t address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

std::string ruleSet(const std::string& device, unsigned count) {
    auto text = std::string{"table netdev bench {\n counter dropped { }\n set connections {\n  "
                            "typeof ip saddr . ip daddr . ip protocol . udp sport . udp dport\n"
                            "  elements = {\n"};
    for (unsigned i = 0; i < count; i++) {
        const auto flow = workload::blockedFlow(i);
        text += fmt::format("{} . {} . udp . {} . {},\n", addressText(flow.from), addressText(flow.to),
                            ntohs(flow.fromPort), ntohs(flow.toPort));
    }
    return text + fmt::format(
                      "  }}\n }}\n chain ingress {{\n  type filter hook ingress device \"{}\" priority 0;\n"
                      "  ip saddr . ip daddr . ip protocol . udp sport . udp dport @connections counter name "
                      "dropped drop\n }}\n}}\n",
                      device);
}
} // namespace

Started startNftables(const Contest& contest) {
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto& place = contest.side.place();
    const auto file = folder->path() + "/rules";
    const auto count = static_cast<unsigned>(settingsOf(contest.one).entries);
    if (auto written = writeFile(file, ruleSet(place.deviceName(), count)); !written)
        return std::unexpected(written.error());
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    if (auto loaded = runProgram({"nft", "-f", file}); !loaded)
        return std::unexpected(loaded.error());
    return std::make_unique<Nftables>(std::move(*folder), place.device());
}

} // namespace tna::bench
