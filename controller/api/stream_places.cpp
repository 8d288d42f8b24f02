// SPDX-License-Identifier: Apache-2.0
#include "api/stream_places.hpp"

#include <mutex>

namespace tna::api {

struct StreamPlaces::Taken {
    std::mutex mutex;
    std::map<uid_t, std::size_t> byUser;
    std::size_t all = 0;
};

StreamPlaces::StreamPlaces() : taken_(std::make_shared<Taken>()) {}

std::shared_ptr<void> StreamPlaces::take(uid_t user) {
    const std::lock_guard lock{taken_->mutex};
    auto& own = taken_->byUser[user];
    if (own >= mostOfOne || taken_->all >= most)
        return nullptr;
    own++;
    taken_->all++;
    return {taken_.get(), [taken = taken_, user](void*) {
                const std::lock_guard released{taken->mutex};
                taken->all--;
                if (--taken->byUser[user] == 0)
                    taken->byUser.erase(user);
            }};
}

} // namespace tna::api
