// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/topology.hpp"

namespace tna::bench {

/// What becomes of a real connection through the device under test. Linux leaves the checksums and the
/// segmentation of what it sends to devices; a data plane that hands such frames on as they are breaks TCP,
/// while frames of a generator, which are finished, come out whole.
enum class Tcp {
    notTried,
    works,
    withoutOffloads, ///< only if the senders' devices are told to finish frames
    fails,
};

/// For the table: "yes", "tx off", "no"; "-" if it was not tried.
[[nodiscard]] const char* nameOf(Tcp tcp);

/// Sends data from the generator's device to the sink's and back, and compares it; frames of the generator
/// must be gone. The hosts have addresses meanwhile only.
[[nodiscard]] Result<Tcp> tryTcp(const Topology& topology, const Setup& setup);

} // namespace tna::bench
