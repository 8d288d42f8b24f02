// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace tna::config {

/// What the kernel has room for in the name of a socket.
inline constexpr std::size_t longestSocket = 107;

/// Where network functions connect: beside the control socket, by whose name it is called: functions.sock for
/// tnad.sock, blue-functions.sock for blue.sock.
[[nodiscard]] std::string functionSocketBeside(const std::string& controlSocket);

/// Whether there is room for the names of both.
[[nodiscard]] bool isControlSocket(const std::string& path);

} // namespace tna::config
