// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <sys/types.h>

namespace tna::api {

/// How many may follow streams at a time: those of one user leave room for others. Safe to use from several
/// threads; places may outlive this.
class StreamPlaces {
public:
    static constexpr std::size_t most = 16;
    static constexpr std::size_t mostOfOne = 8;

    StreamPlaces();
    /// Kept for as long as what is returned lives; nothing if there is none.
    [[nodiscard]] std::shared_ptr<void> take(uid_t user);

private:
    struct Taken;
    std::shared_ptr<Taken> taken_;
};

} // namespace tna::api
