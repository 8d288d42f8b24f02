// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/connection.hpp"

namespace tna::api {

/// Whether there is room for one more connection, of somebody who may change something or only look.
[[nodiscard]] bool hasRoom(const Connections& connections, bool mayChange);
/// Who has to go for them; the end: nobody may.
[[nodiscard]] Connections::iterator whoGoesFor(Connections& connections, bool mayChange);
/// What waits to be read is bounded: who has to go because of it; the end: nobody has.
[[nodiscard]] Connections::iterator whoseAnswerGoes(Connections& connections);

} // namespace tna::api
