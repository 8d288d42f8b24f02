// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tna::deploy {

/// Sends libbpf's messages to the log: warnings as debug (callers report failures in their own words).
void captureLibbpfMessages();

} // namespace tna::deploy
