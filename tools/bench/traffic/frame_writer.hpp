// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/frame.hpp"

#include <array>
#include <optional>
#include <span>

namespace tna::bench {

/// Writes the frames of a setup one after the other, as the generator's programs do, for those who send from
/// user space.
class FrameWriter {
public:
    explicit FrameWriter(const Setup& setup);
    struct Which {
        unsigned flow = 0;
        unsigned cpu = 0;
        std::uint64_t number = 0; ///< of those that the CPU has sent
        std::optional<std::uint64_t> due;
        bool back = false; ///< from the sink's side to the generator's
    };
    /// Its size; when it is due stands behind the mark where there is room.
    [[nodiscard]] std::size_t write(std::span<unsigned char> buffer, const Which& which) const;

private:
    struct Template {
        Frame frame;
        Frame back;
        std::uint32_t sum;
    };
    std::vector<Template> templates_;
    std::size_t markAt_ = 0;
    std::uint32_t addressing_;
};

/// Which of a setup's sizes the frame of a number has: seven small ones, four of medium size, one large one,
/// well mixed.
[[nodiscard]] unsigned sizeIndexOf(std::uint64_t number, std::size_t sizes);
/// How the programs name the scenario's addresses (bpf/shared.h).
[[nodiscard]] std::uint32_t addressingOf(Scenario scenario);

} // namespace tna::bench
