// SPDX-License-Identifier: Apache-2.0
#include "deploy/fdb/station_mirror.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <ctime>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

namespace tna::deploy {

namespace {
tna_station_key mapKey(const model::StationKey& key) {
    tna_station_key value{key.bridge, key.vlan, {}};
    std::ranges::copy(key.mac.bytes, value.mac);
    return value;
}

/// The clock that the fast path compares with.
std::uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

tna_station_use freshUse(const model::Station& station) {
    const auto age = static_cast<std::uint64_t>(std::chrono::nanoseconds(station.unused).count());
    // It may be longer ago than the machine has run: the difference is what the fast path computes again.
    return {now() - age, 0, 0};
}
} // namespace

void StationMirror::Unmap::operator()(tna_station_use* memory) const {
    ::munmap(memory, size);
}

StationMirror::StationMirror(int stationsMap, Uses uses, unsigned capacity)
    : map_(stationsMap), uses_(std::move(uses)), capacity_(capacity), free_(capacity) {
    std::iota(free_.begin(), free_.end(), 0U);
}

Result<StationMirror> StationMirror::open(int stationsMap, int usesMap, unsigned capacity) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto size = (capacity * sizeof(tna_station_use) + page - 1) / page * page;
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, usesMap, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "cannot map the stations' table of {} entries", capacity);
    return StationMirror{stationsMap, Uses{static_cast<tna_station_use*>(memory), Unmap{size}}, capacity};
}

Result<void> StationMirror::set(const model::StationKey& key, const model::Station& station) {
    const auto known = indices_.find(key);
    if (known == indices_.end() && free_.empty()) {
        left_.insert_or_assign(key, station);
        return {};
    }
    const unsigned index = known != indices_.end() ? known->second : free_.front();
    if (known == indices_.end())
        uses_[index] = freshUse(station);
    const auto in = mapKey(key);
    const auto flags = (station.local ? TNA_STATION_LOCAL : 0) | (station.sticky ? TNA_STATION_STICKY : 0) |
                       (station.inactive ? TNA_STATION_INACTIVE : 0);
    const tna_station value{station.port, static_cast<__u16>(flags), 0, index};
    if (bpf_map_update_elem(map_, &in, &value, BPF_ANY) != 0) {
        const int code = errno;
        // What it said before is wrong by now.
        if (remove(key))
            left_.insert_or_assign(key, station);
        else
            stuck_[key] = station;
        return failErrno(code, "cannot enter the station {} in the mirror", key.mac.text());
    }
    stuck_.erase(key);
    left_.erase(key);
    if (known == indices_.end()) {
        free_.pop_front();
        indices_.emplace(key, index);
    }
    return {};
}

Result<void> StationMirror::remove(const model::StationKey& key) {
    left_.erase(key);
    const auto known = indices_.find(key);
    if (known == indices_.end())
        return {};
    const auto in = mapKey(key);
    if (bpf_map_delete_elem(map_, &in) != 0 && errno != ENOENT) {
        const int code = errno;
        stuck_[key] = std::nullopt;
        return failErrno(code, "cannot take the station {} out of the mirror", key.mac.text());
    }
    stuck_.erase(key);
    free_.push_back(known->second);
    indices_.erase(known);
    return {};
}

/// Those that found no room, once there is some; and those that could not be entered.
Result<void> StationMirror::fillGaps() {
    while (!left_.empty() && !free_.empty()) {
        const auto [key, station] = *left_.begin();
        left_.erase(left_.begin());
        if (auto done = set(key, station); !done)
            return done;
    }
    return {};
}

Result<void> StationMirror::apply(const std::vector<model::StationChange>& changes) {
    Result<void> result;
    const auto note = [&](const Result<void>& done) {
        if (!done && result)
            result = done; // the others go on
    };
    std::vector<model::StationKey> again;
    for (const auto& [key, wanted] : stuck_)
        again.push_back(key);
    for (const auto& change : changes)
        note(change.now ? set(change.key, *change.now) : remove(change.key));
    for (const auto& key : again)
        if (const auto stuck = stuck_.find(key); stuck != stuck_.end()) {
            const auto wanted = stuck->second; // by now
            note(wanted ? set(key, *wanted) : remove(key));
        }
    note(fillGaps());
    return result;
}

} // namespace tna::deploy
