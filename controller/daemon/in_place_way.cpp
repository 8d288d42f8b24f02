// SPDX-License-Identifier: Apache-2.0
#include "daemon/in_place_way.hpp"

#include "assemble/packet_filter.hpp"
#include "capability/vlan_proof.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// Stations compared in the proof: enough to meet every chain of a small table and some of a large one.
constexpr std::size_t proofEntries = 512;
/// Stations may come and go between the dump and the look.
constexpr int proofAttempts = 3;
/// So does the state of ports. What stays different is different.
constexpr auto disproofLasts = std::chrono::seconds(2);
} // namespace

std::optional<std::string> InPlaceWay::prepare(Time now) {
    auto& capabilities = observed().capabilities;
    if (!capabilities.inPlaceVlans.available)
        capabilities.inPlaceVlans = capability::proveInPlaceVlans(*reader_, source().network());
    return capabilities.inPlaceFdb.available ? std::nullopt : proveFdb(now);
}

/// Nothing: it could not be found out.
std::optional<bool> InPlaceWay::isDisproved() {
    bool disproved = true;
    for (int attempt = 0; attempt < proofAttempts && disproved; attempt++) {
        // A port may have changed its state since it was announced last.
        if (attempt > 0 && !source().process())
            return std::nullopt;
        const auto entries = kernel().dumpFdb(proofEntries);
        if (!entries) {
            observed().capabilities.inPlaceFdb = {false, entries.error().sentence()};
            return std::nullopt;
        }
        const auto proof = capability::proveInPlaceFdb(*reader_, source().network(), *entries);
        observed().capabilities.inPlaceFdb = proof;
        disproved = proof.disproved;
    }
    return disproved;
}

std::optional<std::string> InPlaceWay::proveFdb(Time now) {
    const auto disproved = isDisproved();
    if (!disproved)
        return std::nullopt;
    if (!*disproved) {
        disprovedSince_.reset();
        return std::nullopt;
    }
    disprovedSince_ = disprovedSince_.value_or(now);
    if (now - *disprovedSince_ < disproofLasts)
        return std::nullopt;
    return observed().capabilities.inPlaceFdb.detail;
}

/// What a filter does is found out here, that a socket still has it, for every frame.
void InPlaceWay::readFilters() {
    if (!filters_)
        return;
    if (const auto filters = filters_->read())
        dataPath().spare(assemble::sparing(*filters));
}

bool InPlaceWay::look() {
    readFilters();
    const bool filters = std::ranges::any_of(source().network().links, [](const auto& item) {
        return item.second.bridge && item.second.bridge->vlanFiltering;
    });
    const auto& capabilities = observed().capabilities;
    return !capabilities.inPlaceFdb.available || (filters && !capabilities.inPlaceVlans.available);
}

void InPlaceWay::driversDoNotTell(const Error& error) {
    spdlog::warn("{}", error.sentence());
}

} // namespace tna::daemon
