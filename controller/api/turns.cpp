// SPDX-License-Identifier: Apache-2.0
#include "api/turns.hpp"

namespace tna::api {

void Turns::wait(std::uint64_t id, uid_t user, bool mayChange) {
    (mayChange ? changers_ : lookers_).waiting[user].push_back(id);
}

void Turns::leave(std::uint64_t id, uid_t user, bool mayChange) {
    auto& waiting = (mayChange ? changers_ : lookers_).waiting;
    const auto own = waiting.find(user);
    if (own == waiting.end())
        return;
    std::erase(own->second, id);
    if (own->second.empty())
        waiting.erase(own);
}

std::optional<std::uint64_t> Turns::nextOf(Group& group) {
    if (group.waiting.empty())
        return std::nullopt;
    auto whose = group.waiting.upper_bound(group.last);
    if (whose == group.waiting.end())
        whose = group.waiting.begin();
    const auto id = whose->second.front();
    group.last = whose->first;
    group.busy++;
    whose->second.pop_front();
    if (whose->second.empty())
        group.waiting.erase(whose);
    return id;
}

std::optional<std::uint64_t> Turns::next() {
    if (changers_.busy + lookers_.busy >= places_)
        return std::nullopt;
    if (const auto id = nextOf(changers_))
        return id;
    return lookers_.busy < places_ - kept_ ? nextOf(lookers_) : std::nullopt;
}

void Turns::done(bool mayChange) {
    (mayChange ? changers_ : lookers_).busy--;
}

} // namespace tna::api
