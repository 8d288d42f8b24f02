// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/frame.hpp"

#include <set>

namespace tna::diff {

/// Whether a host with these MAC addresses sends such a frame when it likes, or now and then only, so that
/// two hosts do not do it alike: questions for neighbours, reports and queries, spanning tree, and complaints
/// to senders that are limited by time.
[[nodiscard]] bool comesUnasked(const Frame& frame, const std::set<Mac>& own);

/// Sets to 0 what a host numbers for itself, identifications of its ICMP, and the time of day that a router
/// writes into packets that ask for it.
void forgetChance(Frame& frame, const std::set<Mac>& own);

} // namespace tna::diff
