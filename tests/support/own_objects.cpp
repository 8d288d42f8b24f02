// SPDX-License-Identifier: Apache-2.0
#include "support/own_objects.hpp"

#include <bpf/bpf.h>
#include <filesystem>

namespace tna::test {

namespace {
constexpr __u32 first = 0;

std::vector<int> ownDescriptors(const std::string& kind) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone) == kind)
            found.push_back(std::stoi(entry.path().filename()));
    }
    return found;
}
} // namespace

std::set<std::uint32_t> ownProgramIds(const std::string& name) {
    std::set<std::uint32_t> found; // several descriptors may stand for one
    for (const int fd : ownDescriptors("anon_inode:bpf-prog")) {
        bpf_prog_info info{};
        __u32 size = sizeof(info);
        if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.name == name)
            found.insert(info.id);
    }
    return found;
}

std::size_t ownPrograms(const std::string& name) {
    return ownProgramIds(name).size();
}

void eachOwnMap(const std::string& name, const std::function<void(int, const bpf_map_info&)>& look) {
    std::set<__u32> seen;
    for (const int fd : ownDescriptors("anon_inode:bpf-map")) {
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
