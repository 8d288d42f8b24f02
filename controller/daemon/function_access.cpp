// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_access.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <system_error>

namespace tna::daemon {

namespace {
/// What getpwnam_r() or getgrnam_r() finds, with as much room as it wants; others may ask at the same time.
template <typename Entry, typename Ask, typename Number>
std::optional<Number> find(const std::string& name, Ask ask, Number Entry::* number) {
    constexpr std::size_t most = std::size_t{1} << 20U;
    for (std::size_t size = 1024; size <= most; size *= 4) {
        std::vector<char> room(size);
        Entry entry{};
        Entry* found = nullptr;
        const int error = ask(name.c_str(), &entry, room.data(), room.size(), &found);
        if (error != ERANGE)
            return found == nullptr ? std::nullopt : std::optional{found->*number};
    }
    return std::nullopt;
}

std::optional<gid_t> idOfGroup(const std::string& name) {
    return find(name, ::getgrnam_r, &group::gr_gid);
}

std::optional<uid_t> idOfUser(const std::string& name) {
    uid_t number = 0;
    const auto* end = name.data() + name.size();
    if (const auto [stopped, error] = std::from_chars(name.data(), end, number);
        error == std::errc{} && stopped == end)
        return number;
    return find(name, ::getpwnam_r, &passwd::pw_uid);
}
} // namespace

bool mayConnect(const functions::Declaration& declared, const api::Peer& peer) {
    return peer.user == 0 ||
           std::ranges::any_of(declared.users,
                               [&](const auto& user) { return idOfUser(user) == peer.user; }) ||
           std::ranges::any_of(declared.groups, [&](const auto& name) {
               const auto id = idOfGroup(name);
               return id && std::ranges::find(peer.groups, *id) != peer.groups.end();
           });
}

std::vector<std::string> unknownAmong(const std::vector<std::string>& users,
                                      const std::vector<std::string>& groups) {
    std::vector<std::string> unknown;
    for (const auto& name : users)
        if (!idOfUser(name))
            unknown.push_back(fmt::format("user '{}'", name));
    for (const auto& name : groups)
        if (!idOfGroup(name))
            unknown.push_back(fmt::format("group '{}'", name));
    return unknown;
}

} // namespace tna::daemon
