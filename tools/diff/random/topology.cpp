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

namespace {
constexpr std::uint64_t macs = 1, interfaceIds = 2;
}

Addresses::Addresses(const Chance& chance) {
    if (auto own = chance.apart(macs); own.once(2)) {
        mac_.emplace();
        for (auto& byte : *mac_)
            byte = own.byte();
        (*mac_)[0] =
            static_cast<std::uint8_t>(((*mac_)[0] & 0xfcU) | 2U); // administered locally, of one station
    }
    if (auto own = chance.apart(interfaceIds); own.once(2)) {
        six_.emplace();
        for (unsigned i = 8; i < 14; i++)
            (*six_)[i] = own.byte();
    }
}

Mac Addresses::mac(unsigned number) const {
    if (!mac_)
        return station(number);
    auto mac = *mac_;
    // Any byte but the first one, whose lowest bits have a meaning.
    auto& byte = mac[1 + number % (mac.size() - 1)];
    byte = static_cast<std::uint8_t>(byte ^ (1 + number / (mac.size() - 1)));
    return mac;
}

Address6 Addresses::six(unsigned net, unsigned host) const {
    if (!six_)
        return address6(net, host);
    auto address = address6(net, 2);
    for (unsigned i = 8; i < 14; i++)
        address[i] = (*six_)[i];
    auto& byte = address[8 + host % 6];
    byte = static_cast<std::uint8_t>(byte ^ (1 + host / 6));
    return address;
}

} // namespace tna::diff
