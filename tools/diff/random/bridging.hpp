// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/scenario.hpp"

#include <fmt/format.h>

namespace tna::diff {

inline constexpr const char* noIpv6 =
    "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1";
/// They are on in each new namespace, where the kernel has them.
inline constexpr const char* noBridgeNetfilter =
    "for i in iptables ip6tables arptables; do [ ! -e /proc/sys/net/bridge ] || sysctl -qw "
    "net.bridge.bridge-nf-call-$i=0 || break; done";

/// Whether bridges have the rules of routed packets called; `name`: iptables or ip6tables.
[[nodiscard]] inline std::string callsWords(const std::string& name, bool on) {
    return fmt::format("sysctl -qw net.bridge.bridge-nf-call-{}={} 2>/dev/null || true", name, on ? 1 : 0);
}
/// 02:00:00:00:ff:NUMBER
[[nodiscard]] inline std::string bridgeMac(unsigned number) {
    return fmt::format("02:00:00:00:ff:{:02x}", number);
}

/// What bridges of all kinds are made with, and what changes of them.
[[nodiscard]] std::string bridgeWords(Chance& chance, const std::string& name, const std::string& mac);
[[nodiscard]] std::string portSetting(Chance& chance, const std::string& port, std::string& undo);
[[nodiscard]] std::string entry(Chance& chance, const Topology& topology, const std::string& port,
                                const std::string& where);

} // namespace tna::diff
