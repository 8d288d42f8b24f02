// SPDX-License-Identifier: Apache-2.0
// All settings of the running kernel that a namespace has, and all options of bridges and ports that it
// shows: what there is is asked for, so that those come up that nobody has thought of.
#include "diff/random/extension.hpp"
#include "diff/random/machine.hpp"
#include "diff/random/times.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace tna::diff {

namespace {
struct LeftOut {
    const char* name; ///< part of it
    const char* why;
};
constexpr LeftOut leftOut[] = {
    {"_solicit", "questions for neighbours fail, and with them packets, when time is up"},
    {"_resolicit", "as above"},
    {"retrans_time", "as above"},
    {"delay_first_probe_time", "as above: it is so long that none is asked"},
    {"interval_probe_time", "as above"},
    {"anycast_delay", "answers come later, by chance"},
    {"proxy_delay", "answers come later, by chance"},
    {"locktime", "how long an answer counts is time"},
    {"base_reachable_time", "a time of its own: changed where nothing waits for it, see times.cpp"},
    {"dad", "an address is nobody's until time is up"},
    {"use_optimistic", "as above"},
    {"addr_gen_mode", "another address of the link, by chance, after a while"},
    {"stable_secret", "as above"},
    {"router_", "questions for routers, when time is up"},
    {"report_interval", "reports, when time is up"},
    {"ratelimit", "answers by time"},
    {"ratemask", "answers by time"},
    {"icmp_msgs", "answers by time"},
    {"frag_time", "a whole is given up when time is up"},
    {"frag_", "how much is waited for"},
    {"mtu_expires", "forgotten when time is up"},
    {"ipv6/route/gc_", "forgotten when time is up"},
    {"gc_thresh", "forgotten when time is up"},
    {"_intvl", "groups and queries, when time is up"},
    {"_interval", "as above"},
    {"mcast_querier", "as above: the bridge hears its own questions"},
    {"_cnt", "as above"},
    {"hello_time", "when the bridge speaks"},
    {"max_age", "when the bridge forgets who spoke"},
    {"forward_delay", "ports go on to the next state when time is up"},
    {"ageing_time", "a time of its own: see times.cpp"},
    {"tcp_", "the host's own connections: there are none"},
    {"udp_", "the host's own sockets"},
};

bool isLeftOut(const std::string& name) {
    return std::ranges::any_of(leftOut, [&](const LeftOut& one) { return name.find(one.name) != name.npos; });
}

std::optional<long long> numberIn(const std::string& text) {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class SysctlScenario : public Extension {
public:
    explicit SysctlScenario(Chance& chance) : Extension(chance, anyUsual(chance)) {
        // By the last part of the name, so that what there is of each device does not hide the rest.
        for (const auto& setting : machine().sysctls)
            if (!isLeftOut(setting.name) && numberIn(setting.value))
                sysctls_[setting.name.substr(0, 5) + setting.name.substr(setting.name.rfind('/'))].push_back(
                    setting);
    }

private:
    std::vector<std::string> more() override {
        auto& topology = this->topology();
        topology.spread = {.newFlow = 100, .far = 3, .fromFar = 8};
        // So that answers for others do not come by chance, whatever the kind.
        std::vector<std::string> lines{
            "for i in /proc/sys/net/ipv?/neigh/*/proxy_delay; do echo 0 > $i || break; done"};
        if (chance_.once(2)) // these stay
            for (unsigned i = chance_.below(4); i > 0; i--)
                lines.push_back(write(sysctl()) + " || true");
        return lines;
    }

    std::vector<Step> ownChange() override {
        if (chance_.once(25))
            return times(chance_, topology());
        if (topology().devices.empty() ? chance_.once(2) : chance_.once(6))
            return commands({option()});
        if (chance_.once(6)) // it stays
            return commands({write(sysctl())});
        std::string words, undo = "true";
        for (unsigned i = 0, count = 1 + chance_.below(8); i < count; i++) {
            const auto& setting = sysctl();
            words += fmt::format("read -r old{} < /proc/sys/net/{}; {}; ", i, setting.name, write(setting));
            const bool links = setting.name.find("disable_ipv6") != std::string::npos ||
                               setting.name.find("forward") != std::string::npos;
            undo = fmt::format("echo \"$old{}\" > /proc/sys/net/{}; {}{}", i, setting.name, undo,
                               links ? "; " + restoration() : "");
        }
        undoBy(undo);
        return commands({words + "true"});
    }

    const Setting& sysctl() {
        static const Setting none{"ipv4/ip_forward", "1"};
        if (sysctls_.empty())
            return none;
        auto which = sysctls_.begin();
        std::advance(which, chance_.below(sysctls_.size()));
        return chance_.oneOf(which->second);
    }

    std::string write(const Setting& setting) {
        return fmt::format("echo {} > /proc/sys/net/{}", other(setting.value), setting.name);
    }

    /// A value that a setting with this one may have, or may not.
    std::string other(const std::string& usual) {
        const auto number = numberIn(usual).value_or(0);
        if (number == 0 || number == 1)
            return chance_.once(4) ? std::to_string(chance_.oneOf({-1, 2, 3, 255}))
                                   : std::to_string(chance_.once(4) ? number : 1 - number);
        return std::to_string(chance_.oneOf<long long>(
            {0, 1, 2, number + 1, number - 1, number / 2, 2 * number, 65535, 2147483647, number}));
    }

    /// Of a bridge or a port.
    std::string option() {
        const bool port = chance_.once(2);
        const auto& options = port ? machine().portOptions : machine().bridgeOptions;
        const auto name = port ? this->port() : std::string("br0");
        const auto command = fmt::format("ip link set {} type {}", name, port ? "bridge_slave" : "bridge");
        std::vector<Setting> usable;
        std::ranges::copy_if(options, std::back_inserter(usable),
                             [](const Setting& one) { return !isLeftOut(one.name); });
        if (usable.empty())
            return "true";
        const auto& option = chance_.oneOf(usable);
        // Words that one program knows by another name.
        const auto set = [&](const std::string& value) {
            return fmt::format("{} {} {} 2>/dev/null || bridge link set dev {} {} {}", command, option.name,
                               value, name, option.name, value);
        };
        undoBy(set(option.value));
        if (option.value == "on" || option.value == "off")
            return set(option.value == "on" ? "off" : "on");
        if (option.name == "state")
            return set(std::to_string(chance_.below(5)));
        if (!numberIn(option.value))
            return set(option.value.find(':') != std::string::npos ? "01:80:c2:00:00:0e" : "0x4000");
        return set(other(option.value));
    }

    std::map<std::string, std::vector<Setting>> sysctls_;
};
} // namespace

std::unique_ptr<Scenario> sysctlScenario(Chance& chance) {
    return std::make_unique<SysctlScenario>(chance);
}

} // namespace tna::diff
