// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include "packet.hpp"

#include <algorithm>
#include <bit>

namespace tna::workload {

namespace {
std::size_t sizeFor(Work work, bool wanted, std::size_t size) {
    return wanted && (work == Work::firewall || work == Work::chain) ? std::min<std::size_t>(size, mostFlows)
                                                                     : 0;
}
} // namespace

const std::vector<std::string>& workNames() {
    static const std::vector<std::string> names{"macswap", "checksum", "lookup", "firewall",
                                                "chain",   "forward",  "back",   "drop"};
    return names;
}

Worker::Worker(Work work, const WorkSettings& settings)
    : work_(work), times_(std::max(settings.times, 1U)), blocked_(sizeFor(work, true, settings.entries)),
      sessions_(sizeFor(work, work == Work::chain, settings.sessions)) {
    if (work == Work::lookup)
        lines_.resize(std::bit_ceil(std::max<std::size_t>(settings.entries, 1)));
    for (std::size_t i = 0; i < lines_.size(); i++)
        lines_[i].value = i; // written, so that it is there
    for (std::uint32_t i = 0; i < sizeFor(work, true, settings.entries); i++)
        blocked_.add(blockedFlow(i), {});
    for (std::uint32_t i = 0; i < sizeFor(work, work == Work::chain, settings.sessions); i++)
        sessions_.add(sessionFlow(i), backendOf(sessionFlow(i)));
}

/// Random, so that no processor knows before where it will be.
std::uint64_t Worker::read() {
    constexpr std::uint64_t factor = 6364136223846793005U;
    random_ = random_ * factor + 1442695040888963407U;
    return lines_[(random_ >> 32U) & (lines_.size() - 1)].value;
}

bool Worker::pass(std::span<unsigned char> frame) const {
    const auto flow = flowOf(frame);
    if (!flow)
        return true;
    if (blocked_.find(*flow) != nullptr)
        return false;
    if (const auto* backend = work_ == Work::chain ? sessions_.find(*flow) : nullptr)
        redirect(frame, *backend);
    return true;
}

bool Worker::treat(std::span<unsigned char> frame) {
    if (work_ == Work::checksum && flowOf(frame))
        writeChecksum(frame, times_);
    if (work_ == Work::lookup)
        result_ += read();
    if ((work_ == Work::firewall || work_ == Work::chain) && !pass(frame))
        return false;
    swapAddresses(frame);
    return true;
}

} // namespace tna::workload
