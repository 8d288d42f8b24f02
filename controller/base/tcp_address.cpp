// SPDX-License-Identifier: Apache-2.0
#include "base/tcp_address.hpp"

#include <arpa/inet.h>
#include <charconv>

namespace tna {

std::optional<TcpAddress> tcpAddressOf(const std::string& text) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    auto host = text.substr(0, colon);
    const bool six = host.starts_with('[') && host.ends_with(']');
    if (six)
        host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, port);
    TcpAddress place{};
    place.any.sa_family = six ? AF_INET6 : AF_INET;
    (six ? place.six.sin6_port : place.four.sin_port) = htons(port);
    void* parsed = six ? static_cast<void*>(&place.six.sin6_addr) : &place.four.sin_addr;
    if (error != std::errc{} || rest != end || port == 0 ||
        ::inet_pton(place.any.sa_family, host.c_str(), parsed) != 1)
        return std::nullopt;
    return place;
}

} // namespace tna
