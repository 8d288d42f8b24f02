// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <sys/types.h>

namespace tna::api {

/// Whose request is answered next, where fewer can be at a time than have asked. Users take turns, however
/// much each of them asks; those who may change something go first, and a place is kept for them. Not thread
/// safe.
class Turns {
public:
    /// So many at a time, of which `kept` are for those who may change something.
    explicit Turns(std::size_t places, std::size_t kept = 0) : places_(places), kept_(kept) {}

    void wait(std::uint64_t id, uid_t user, bool mayChange);
    /// One that waits no longer.
    void leave(std::uint64_t id, uid_t user, bool mayChange);
    /// Nothing if nobody waits, or there is no place.
    [[nodiscard]] std::optional<std::uint64_t> next();
    /// One that next() has named is answered.
    void done(bool mayChange);

private:
    struct Group {
        std::map<uid_t, std::deque<std::uint64_t>> waiting; ///< no user without a request
        uid_t last = 0;                                     ///< whose turn it was
        std::size_t busy = 0;
    };
    [[nodiscard]] static std::optional<std::uint64_t> nextOf(Group& group);

    std::size_t places_;
    std::size_t kept_;
    Group changers_;
    Group lookers_;
};

} // namespace tna::api
