// SPDX-License-Identifier: Apache-2.0
#include "capability/modules.hpp"

#include <array>
#include <sys/stat.h>

namespace tna::capability {

std::map<std::string, std::uint64_t> loadedModules() {
    constexpr std::array watched = {"br_fdb_kfunc",       "br_netfilter", "bridge",
                                    "ebtables",           "nf_conntrack", "nf_flow_table",
                                    "nf_flow_table_inet", "sch_fq",       "veth"};
    std::map<std::string, std::uint64_t> found;
    for (const std::string name : watched) {
        struct stat about{};
        if (::stat(("/sys/module/" + name).c_str(), &about) == 0)
            found[name] = about.st_ino;
    }
    return found;
}

} // namespace tna::capability
