// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/station.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tna::introspect {

/// What is known of stations from what Linux has announced, dumped and answered.
///
/// The kernel does not always announce changes of one station in their order: a move may be announced after
/// the removal that came after it, and of two moves either one first. So Linux is to be asked where a station
/// is that was announced elsewhere than it was, or soon after it was removed: until then it is doubtful.
class StationBook {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Keys = std::unordered_set<model::StationKey, model::StationHash>;

    /// To be called before announcements are taken in: so long ago is what was removed remembered.
    void forgetRemoved(Time now);
    void announced(const model::StationChange& change);
    /// One of a dump that replaces what is known; and all of those have come by.
    void read(const model::StationChange& station) { apply(station); }
    void keepOnly(const Keys& found);
    /// Where Linux says that a station is that it was asked for.
    void answered(const model::StationKey& key, const std::optional<model::Station>& now);

    /// A dump begins that is compared with what is known; one of it comes by; it ends, as a whole or not.
    void beginComparison() { compared_.emplace(); }
    [[nodiscard]] bool comparing() const { return compared_.has_value(); }
    void compare(const model::StationChange& station);
    void endComparison(bool whole);

    /// How many are doubtful; the one that has been so for longest, or whose turn it is.
    [[nodiscard]] std::size_t doubtful() const { return questions_.size(); }
    [[nodiscard]] const model::StationKey& question() const { return questions_.front(); }
    /// It could not be asked for: the others go on.
    void postpone() { questions_.splice(questions_.end(), questions_, questions_.begin()); }

    /// What came, changed or went since the last call. Those that are doubtful are nowhere.
    [[nodiscard]] std::vector<model::StationChange> take();
    [[nodiscard]] std::size_t size() const { return stations_.size(); }

private:
    void apply(const model::StationChange& change);
    void remove(const model::StationKey& key);
    void doubt(const model::StationKey& key);
    void trust(const model::StationKey& key);
    [[nodiscard]] bool removedLately(const model::StationKey& key) const;
    [[nodiscard]] std::vector<model::StationKey> missingIn(const Keys& found) const;

    std::unordered_map<model::StationKey, model::Station, model::StationHash> stations_;
    Keys changed_;
    std::list<model::StationKey> questions_; ///< the doubtful ones, the first one asked for first
    std::unordered_map<model::StationKey, std::list<model::StationKey>::iterator, model::StationHash>
        doubtful_;
    Keys removed_, removedBefore_; ///< in the last seconds
    Time forgetAt_;
    std::optional<Keys> compared_; ///< a comparison is under way, and has come by these
};

} // namespace tna::introspect
