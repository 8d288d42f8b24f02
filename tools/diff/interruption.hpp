// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tna::diff {

/// From now on SIGINT, SIGTERM and SIGHUP let the program come to an end and tell what it has found; the
/// second one ends it at once.
void awaitInterruption();
[[nodiscard]] bool interrupted();
/// Ends the program as the signal would have, so that a shell's loop around it ends as well; nothing if none
/// came.
void endIfInterrupted();

} // namespace tna::diff
