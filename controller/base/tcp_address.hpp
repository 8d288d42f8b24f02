// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <optional>
#include <string>

namespace tna {

/// Where to listen, as bind(2) takes it.
union TcpAddress {
    sockaddr_in6 six;
    sockaddr_in four;
    sockaddr any;
};

/// Of ADDRESS:PORT or [ADDRESS]:PORT, without names; nothing if it is not so.
[[nodiscard]] std::optional<TcpAddress> tcpAddressOf(const std::string& text);

} // namespace tna
