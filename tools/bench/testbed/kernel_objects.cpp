// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/kernel_objects.hpp"

#include "base/file.hpp"
#include "base/unique_fd.hpp"

#include <bpf/bpf.h>
#include <charconv>
#include <filesystem>
#include <unistd.h>
#include <vector>

namespace tna::bench {

namespace {
/// Maps of a program that nobody has a descriptor of any more.
void addMapsOf(std::uint32_t program, KernelObjects& objects) {
    const UniqueFd fd{bpf_prog_get_fd_by_id(program)};
    if (!fd)
        return;
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0 || info.nr_map_ids == 0)
        return;
    std::vector<__u32> ids(info.nr_map_ids);
    info = {};
    info.nr_map_ids = static_cast<__u32>(ids.size());
    info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
    size = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd.get(), &info, &size) == 0)
        objects.maps.insert(ids.begin(), ids.end());
}

using Next = int (*)(__u32 after, __u32* next);

/// Asks for ids, not for descriptors: a program array that is about to be emptied because its last descriptor
/// was closed is never freed if another one is opened and closed just then (prog_array_map_clear() takes a
/// reference for work that is scheduled already; seen on 6.18).
std::set<std::uint32_t> existing(const std::set<std::uint32_t>& ids, Next next) {
    std::set<std::uint32_t> found;
    for (const auto id : ids)
        if (__u32 following = 0; next(id - 1, &following) == 0 && following == id)
            found.insert(id);
    return found;
}
} // namespace

std::string KernelObjects::text() const {
    return fmt::format("{} programs, {} maps, {} links", programs.size(), maps.size(), links.size());
}

std::uint32_t fdinfoNumber(const std::string& text, const std::string& name) {
    const auto line = "\n" + name + ":\t";
    const auto at = ("\n" + text).find(line);
    std::uint32_t number = 0;
    if (at == std::string::npos)
        return 0;
    const auto* begin = text.data() + at + line.size() - 1;
    std::from_chars(begin, text.data() + text.size(), number);
    return number;
}

void removeEmptyPinFolder() {
    ::rmdir("/sys/fs/bpf/xdp");
}

KernelObjects objectsOf(pid_t process) {
    KernelObjects objects;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fdinfo", process), none)) {
        const auto text = readFile(entry.path().string()).value_or("");
        const auto link = fdinfoNumber(text, "link_id");
        const auto program = fdinfoNumber(text, "prog_id");
        if (link != 0)
            objects.links.insert(link);
        if (program != 0)
            objects.programs.insert(program);
        if (const auto map = fdinfoNumber(text, "map_id"); map != 0)
            objects.maps.insert(map);
    }
    for (const auto program : objects.programs)
        addMapsOf(program, objects);
    return objects;
}

KernelObjects stillThere(const KernelObjects& objects) {
    return {existing(objects.programs, bpf_prog_get_next_id), existing(objects.maps, bpf_map_get_next_id),
            existing(objects.links, bpf_link_get_next_id)};
}

} // namespace tna::bench
