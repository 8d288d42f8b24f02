// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::diff {

/// A setting with a name, as the kernel shows it, and its value where nobody has changed it.
struct Setting {
    std::string name;
    std::string value;
};

/// What the running kernel has, not what authors know: asked in a namespace for that.
struct Machine {
    std::vector<Setting> sysctls; ///< that can be written, below /proc/sys/net: "ipv4/conf/p0/forwarding"
    std::vector<Setting> bridgeOptions; ///< that "ip -d link" shows, and "ip link set br0 type bridge" takes
    std::vector<Setting> portOptions;   ///< the same of ports, and "bridge link set dev"
};
/// Asked for once.
[[nodiscard]] const Machine& machine();

/// Which of these commands succeed, each by itself; {0} is a port that is there and free.
[[nodiscard]] std::vector<std::size_t> accepted(const std::vector<std::string>& commands);

} // namespace tna::diff
