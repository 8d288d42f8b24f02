// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "model/link.hpp"

#include <cstdint>
#include <memory>

namespace tna::deploy {

/// Whether a device has been in this namespace all the time. An index says nothing of that: another device
/// may have it by now. The kernel takes a device out of all device maps as soon as it goes, be it deleted or
/// moved to another namespace, and only this puts it in.
class Presence {
public:
    Presence() = default;
    Presence(Presence&& other) noexcept { *this = std::move(other); }
    Presence& operator=(Presence&& other) noexcept {
        std::swap(map_, other.map_);
        std::swap(key_, other.key_);
        return *this;
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;
    ~Presence();

    /// Since it was asked for. False for one that was not.
    [[nodiscard]] bool lasts() const;

private:
    friend class Presences;
    Presence(std::shared_ptr<const UniqueFd> map, std::uint32_t key) : map_(std::move(map)), key_(key) {}
    std::shared_ptr<const UniqueFd> map_;
    std::uint32_t key_ = 0;
};

/// Where presences are noted; copies are the same place.
class Presences {
public:
    /// Room for so many.
    [[nodiscard]] static Result<Presences> make(unsigned most);
    /// That of the device with an index, from now on.
    [[nodiscard]] Result<Presence> of(model::IfIndex ifindex) const;

private:
    explicit Presences(UniqueFd map) : map_(std::make_shared<const UniqueFd>(std::move(map))) {}
    std::shared_ptr<const UniqueFd> map_;
    std::shared_ptr<std::uint32_t> last_ = std::make_shared<std::uint32_t>(0);
};

} // namespace tna::deploy
