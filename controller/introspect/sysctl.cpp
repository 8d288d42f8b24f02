// SPDX-License-Identifier: Apache-2.0
#include "introspect/sysctl.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <array>

namespace tna::introspect {

namespace {
constexpr std::array names = {
    "net.bridge.bridge-nf-call-iptables",  "net.bridge.bridge-nf-call-ip6tables",
    "net.bridge.bridge-nf-call-arptables", "net.ipv4.ip_forward",
    "net.ipv6.conf.all.forwarding",        "net.ipv4.conf.all.rp_filter",
    "net.ipv4.fib_multipath_hash_policy",  "net.ipv6.fib_multipath_hash_policy",
};
}

std::map<std::string, std::string> readSysctls() {
    std::map<std::string, std::string> values;
    for (const std::string name : names) {
        std::string path = "/proc/sys/" + name;
        std::ranges::replace(path, '.', '/');
        if (auto value = readFile(path)) {
            while (value->ends_with('\n'))
                value->pop_back();
            values.emplace(name, std::move(*value));
        }
    }
    return values;
}

} // namespace tna::introspect
