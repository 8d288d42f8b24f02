// SPDX-License-Identifier: Apache-2.0
#include "support/own_maps.hpp"

#include <bpf/bpf.h>
#include <filesystem>

namespace tna::test {

namespace {
constexpr __u32 first = 0;

/// Map and size of its value.
void eachOwnMap(const std::string& name, const std::function<void(int, std::size_t)>& look) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone) != "anon_inode:bpf-map")
            continue;
        const int fd = std::stoi(entry.path().filename());
        bpf_map_info info{};
        __u32 size = sizeof(info);
        if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
            info.name == name.substr(0, sizeof(info.name) - 1))
            look(fd, info.value_size);
    }
}
} // namespace

std::vector<std::uint8_t> valuesOfOwnMaps(const std::string& name) {
    std::vector<std::uint8_t> found;
    eachOwnMap(name, [&](int map, std::size_t size) {
        std::vector<std::uint8_t> value(size);
        if (bpf_map_lookup_elem(map, &first, value.data()) == 0)
            found.insert(found.end(), value.begin(), value.end());
    });
    return found;
}

unsigned changeOwnMaps(const std::string& name,
                       const std::function<void(std::vector<std::uint8_t>&)>& change) {
    unsigned changed = 0;
    eachOwnMap(name, [&](int map, std::size_t size) {
        std::vector<std::uint8_t> value(size);
        if (bpf_map_lookup_elem(map, &first, value.data()) != 0)
            return;
        change(value);
        if (bpf_map_update_elem(map, &first, value.data(), BPF_ANY) == 0)
            changed++;
    });
    return changed;
}

} // namespace tna::test
