// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/bisection.hpp"

#include <algorithm>

namespace tna::bench {

namespace {
/// The last of the trials at a rate; the others lost too much.
Result<Trial> tryRate(const Search& search, double rate, NoLossRate& found,
                      const std::function<Result<Trial>(double)>& attempt) {
    Result<Trial> trial;
    for (unsigned number = 0; number < search.attempts; number++) {
        trial = attempt(rate);
        if (!trial)
            return trial;
        found.trials.push_back(*trial);
        if (trial->loss() <= search.tolerance)
            break;
    }
    return trial;
}
} // namespace

Result<NoLossRate> findNoLossRate(const Search& search,
                                  const std::function<Result<Trial>(double rate)>& attempt) {
    NoLossRate found;
    double high = search.most;
    // Below this, nothing is worth looking for.
    const double least = search.most * search.resolution / 10;
    for (double rate = high; rate > least; rate = (found.rate + high) / 2) {
        const auto trial = tryRate(search, rate, found, attempt);
        if (!trial)
            return std::unexpected(trial.error());
        if (trial->loss() > search.tolerance) {
            high = rate;
        } else if (trial->throttled()) {
            found.throttled = true;
            found.rate = std::max(found.rate, trial->really);
            return found;
        } else {
            found.rate = rate;
        }
        if (high - found.rate <= search.resolution * high)
            break;
    }
    return found;
}

} // namespace tna::bench
