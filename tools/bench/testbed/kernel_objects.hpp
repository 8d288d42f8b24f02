// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <sys/types.h>

namespace tna::bench {

/// Programs, maps and links in the kernel, by id.
struct KernelObjects {
    std::set<std::uint32_t> programs;
    std::set<std::uint32_t> maps;
    std::set<std::uint32_t> links;

    [[nodiscard]] std::size_t count() const { return programs.size() + maps.size() + links.size(); }
    /// "2 programs, 3 maps, 1 links"
    [[nodiscard]] std::string text() const;
};

/// The library that other people's AF_XDP programs use makes a folder for pins, and leaves it behind when it
/// is empty.
void removeEmptyPinFolder();

/// What a process holds by its descriptors, and what that holds in turn.
[[nodiscard]] KernelObjects objectsOf(pid_t process);
/// Those that still exist, whoever holds them: a descriptor, a device, a pin.
[[nodiscard]] KernelObjects stillThere(const KernelObjects& objects);

/// Finds the line "name:\tNUMBER" of a /proc/PID/fdinfo file; 0 if there is none.
[[nodiscard]] std::uint32_t fdinfoNumber(const std::string& text, const std::string& name);

} // namespace tna::bench
