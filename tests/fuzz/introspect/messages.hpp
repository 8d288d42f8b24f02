// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlink/attributes.hpp"

#include <vector>

namespace tna::test {

/// One of each kind that the daemon reads, well formed.
[[nodiscard]] std::vector<std::vector<std::byte>> sampleMessages();

struct Decoded {
    unsigned understood = 0; ///< by so many decoders
    std::string wrong;       ///< what no message can mean; empty if all is in order
};
/// Whatever a message claims to be: no decoder may be hurt by any message.
[[nodiscard]] Decoded decodeAsEverything(const netlink::Message& message);

} // namespace tna::test
