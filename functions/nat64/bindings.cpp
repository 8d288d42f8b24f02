// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

#include <cstring>
#include <utility>

namespace tna::nat64 {

Bindings::Bindings(std::size_t most, Pool pool, std::uint64_t seed)
    : pool_(std::move(pool)), seed_(seed), random_(seed), all_(most), free_(allFree(most)), byHost_(most),
      byPlace_(most) {}

std::uint64_t Bindings::hashOf(Kind kind, const Address6& host, std::uint16_t port) const {
    std::uint64_t halves[2];
    std::memcpy(halves, host.data(), sizeof(halves));
    return Hash(seed_)
        .add(halves[0])
        .add(halves[1])
        .add(std::uint64_t{port} << 8U | static_cast<std::uint8_t>(kind))
        .value();
}

std::uint64_t Bindings::hashOf(Kind kind, const Pool::Place& place) const {
    return Hash(seed_)
        .add(std::uint64_t{place.address} << 32U | std::uint64_t{place.port} << 8U |
             static_cast<std::uint8_t>(kind))
        .value();
}

std::uint32_t Bindings::find(Kind kind, const Address6& host, std::uint16_t port) const {
    return byHost_.find(hashOf(kind, host, port), [&](auto number) {
        const auto& binding = all_[number];
        return binding.port == port && binding.kind == kind && binding.host == host;
    });
}

std::uint32_t Bindings::find(Kind kind, const Pool::Place& place) const {
    return byPlace_.find(hashOf(kind, place), [&](auto number) {
        const auto& binding = all_[number];
        return binding.place.address == place.address && binding.place.port == place.port &&
               binding.kind == kind;
    });
}

std::expected<std::uint32_t, Reason> Bindings::add(Kind kind, const Address6& host, std::uint16_t port) {
    // of a host, so that all its ports are at one address
    const auto hash = hashOf(Kind::udp, host, 0) >> 16U;
    random_ = Hash(random_).add(port).value();
    const auto place = pool_.take(kind, port, hash, static_cast<std::uint32_t>(random_ >> 16U));
    if (!place)
        return std::unexpected(Reason::poolExhausted);
    const auto number = free_.back(); // there is one for each session that is free
    free_.pop_back();
    all_[number] = {host, *place, port, kind, 0};
    byHost_.insert(hashOf(kind, host, port), number);
    byPlace_.insert(hashOf(kind, *place), number);
    return number;
}

void Bindings::remove(std::uint32_t number) {
    const auto& binding = all_[number];
    byHost_.remove(hashOf(binding.kind, binding.host, binding.port), number);
    byPlace_.remove(hashOf(binding.kind, binding.place), number);
    pool_.giveBack(binding.kind, binding.place);
    free_.push_back(number);
}

} // namespace tna::nat64
