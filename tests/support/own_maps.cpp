// SPDX-License-Identifier: Apache-2.0
#include "support/own_maps.hpp"

#include <bpf/bpf.h>
#include <filesystem>
#include <set>

namespace tna::test {

namespace {
constexpr __u32 first = 0;
} // namespace

void eachOwnMap(const std::string& name, const std::function<void(int, const bpf_map_info&)>& look) {
    std::set<__u32> seen; // several descriptors may stand for one
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone) != "anon_inode:bpf-map")
            continue;
        const int fd = std::stoi(entry.path().filename());
        bpf_map_info info{};
        __u32 size = sizeof(info);
        if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
            info.name == name.substr(0, sizeof(info.name) - 1) && seen.insert(info.id).second)
            look(fd, info);
    }
}

std::vector<std::uint8_t> valuesOfOwnMaps(const std::string& name) {
    std::vector<std::uint8_t> found;
    eachOwnMap(name, [&](int map, const bpf_map_info& info) {
        std::vector<std::uint8_t> value(info.value_size);
        if (bpf_map_lookup_elem(map, &first, value.data()) == 0)
            found.insert(found.end(), value.begin(), value.end());
    });
    return found;
}

unsigned changeOwnMaps(const std::string& name,
                       const std::function<void(std::vector<std::uint8_t>&)>& change) {
    unsigned changed = 0;
    eachOwnMap(name, [&](int map, const bpf_map_info& info) {
        std::vector<std::uint8_t> value(info.value_size);
        if (bpf_map_lookup_elem(map, &first, value.data()) != 0)
            return;
        change(value);
        if (bpf_map_update_elem(map, &first, value.data(), BPF_ANY) == 0)
            changed++;
    });
    return changed;
}

} // namespace tna::test
