// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tna::workload {

namespace {
constexpr std::size_t addressLength = 6;
constexpr std::size_t headerLength = 14;

void swapAddresses(const tna_frame& frame) {
    if (frame.length >= headerLength)
        std::swap_ranges(frame.data, frame.data + addressLength, frame.data + addressLength);
}

/// In words of 16 bits, as the Internet's checksums are.
std::uint64_t sumOf(const tna_frame& frame) {
    std::uint64_t sum = 0;
    for (std::uint32_t at = 0; at + 1 < frame.length; at += 2) {
        std::uint16_t word = 0;
        std::memcpy(&word, frame.data + at, sizeof(word));
        sum += word;
    }
    return sum;
}
} // namespace

const std::vector<std::string>& workNames() {
    static const std::vector<std::string> names{"macswap", "checksum", "lookup", "forward", "back", "drop"};
    return names;
}

Worker::Worker(Work work, std::size_t entries) : work_(work) {
    if (work != Work::lookup)
        return;
    table_.resize(std::bit_ceil(std::max<std::size_t>(entries, 1)));
    for (std::size_t i = 0; i < table_.size(); i++)
        table_[i] = i * 0x9e3779b97f4a7c15U;
}

void Worker::look(const tna_frame& frame) {
    std::uint64_t first = 0, second = 0;
    if (frame.length >= headerLength) {
        std::memcpy(&first, frame.data, sizeof(first));
        std::memcpy(&second, frame.data + addressLength, sizeof(second));
    }
    const auto hash = (first ^ std::rotl(second, 32)) * 0x9e3779b97f4a7c15U;
    result_ += table_[(hash >> 32U) & (table_.size() - 1)];
}

void Worker::treat(NetworkFunction& function, tna_frame& frame) {
    switch (work_) {
    case Work::drop:
        return function.drop(frame);
    case Work::back:
        (void)function.giveBack(frame);
        return;
    case Work::forward:
        (void)function.send(frame, (frame.port + 1U) % std::max(tna_function_ports(function.get()), 1U));
        return;
    case Work::checksum:
        result_ += sumOf(frame);
        break;
    case Work::lookup:
        look(frame);
        break;
    case Work::macswap:
        break;
    }
    swapAddresses(frame);
    (void)function.send(frame, frame.port);
}

} // namespace tna::workload
