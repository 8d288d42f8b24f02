// SPDX-License-Identifier: Apache-2.0
#include "assemble/profile.hpp"

namespace tna::assemble {

std::vector<std::string> Profile::modules() const {
    std::vector<std::string> names;
    if (bridge)
        names.emplace_back("bridge");
    if (route)
        names.emplace_back("route");
    return names;
}

std::string Profile::name() const {
    std::string text = bridge ? "bridge" : route ? "route" : "none";
    if (veth)
        text += "+veth";
    if (brNetfilter)
        text += "+br_netfilter";
    return text;
}

} // namespace tna::assemble
