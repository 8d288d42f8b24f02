// SPDX-License-Identifier: Apache-2.0
#include "diff/random/topology.hpp"

#include <arpa/inet.h>

namespace tna::diff {

Mac station(unsigned number) {
    return {2, 0, 0, 0, static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)};
}

Address4 address4(unsigned net, unsigned host) {
    return 10U << 24U | net << 8U | host;
}

Address6 address6(unsigned net, unsigned host) {
    Address6 address{0xfd};
    address[7] = static_cast<std::uint8_t>(net);
    address[15] = static_cast<std::uint8_t>(host);
    return address;
}

Address4 address4(const char* text) {
    in_addr address{};
    ::inet_pton(AF_INET, text, &address);
    return ntohl(address.s_addr);
}

Address6 address6(const char* text) {
    Address6 address{};
    ::inet_pton(AF_INET6, text, address.data());
    return address;
}

std::string text4(Address4 address) {
    const in_addr network{htonl(address)};
    std::array<char, INET_ADDRSTRLEN> text{};
    return ::inet_ntop(AF_INET, &network, text.data(), text.size());
}

std::string text6(const Address6& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
}

} // namespace tna::diff
