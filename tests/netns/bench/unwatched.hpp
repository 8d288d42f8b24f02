// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"

namespace tna::bench {

/// Nobody looks on, and nobody interrupts.
class Unwatched : public Watcher {
public:
    void progress(const std::string&, unsigned, unsigned) override {}
    [[nodiscard]] bool interrupted() const override { return false; }
};

} // namespace tna::bench
