// SPDX-License-Identifier: Apache-2.0
#include "flows.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace tna::workload {

namespace {
constexpr std::uint32_t firstBlocked = 0x0a000000;
constexpr std::uint32_t firstSession = 0x0a800000;
constexpr std::uint32_t service = 0xc6120201; // 198.18.2.1
constexpr std::uint32_t firstBackend = 0xac100000;
constexpr std::uint16_t clientPort = 1024;
constexpr std::uint16_t servicePort = 9;
constexpr std::uint16_t backendPort = 8080;
constexpr std::uint32_t backends = 16;

Flow flowFrom(std::uint32_t source) {
    return {htonl(source), htonl(service), htons(clientPort), htons(servicePort), IPPROTO_UDP};
}
} // namespace

Flow blockedFlow(std::uint32_t number) {
    return flowFrom(firstBlocked + number);
}

Flow sessionFlow(std::uint32_t number) {
    return flowFrom(firstSession + number);
}

Backend backendOf(const Flow& flow) {
    const auto which = ntohl(flow.from) % backends;
    return {htonl(firstBackend + which), htons(static_cast<std::uint16_t>(backendPort + which))};
}

} // namespace tna::workload
