// SPDX-License-Identifier: Apache-2.0
// Packet sockets with filters, as DHCP clients and servers have them.
#pragma once

#include "model/packet_filter.hpp"
#include "wires/udp_filter.hpp"

#include <array>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tna::test {

/// All UDP over IPv4 for this port, as ISC's programs ask for it.
inline model::PacketFilter udpFor(std::uint16_t port) {
    model::PacketFilter filter;
    for (const auto& one : wires::udpFilter(port))
        filter.push_back({one.code, one.jt, one.jf, one.k});
    return filter;
}

/// All frames of an EtherType.
inline model::PacketFilter framesOf(std::uint16_t type) {
    return {{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},
            {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, type},
            {BPF_RET | BPF_K, 0, 0, 0xffffffff},
            {BPF_RET | BPF_K, 0, 0, 0}};
}

/// Frames for the group addresses of LLDP and its kin, as lldpd asks for them.
inline model::PacketFilter lldp() {
    constexpr std::uint16_t byte = BPF_LD | BPF_B | BPF_ABS, half = BPF_LD | BPF_H | BPF_ABS,
                            word = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K;
    return {{byte, 0, 0, 0},           {BPF_ALU | BPF_AND | BPF_K, 0, 0, 1},
            {equal, 0, 16, 1},         {half, 0, 0, 12},
            {equal, 0, 6, ETH_P_LLDP}, {word, 0, 0, 2},
            {equal, 2, 0, 0xc200000e}, {equal, 1, 0, 0xc2000003},
            {equal, 0, 2, 0xc2000000}, {half, 0, 0, 0},
            {equal, 12, 13, 0x0180},   {word, 0, 0, 2},
            {equal, 0, 2, 0x52cccccc}, {half, 0, 0, 0},
            {equal, 8, 9, 0x01e0},     {equal, 1, 0, 0x0ccccccc},
            {equal, 0, 2, 0x81000100}, {half, 0, 0, 0},
            {equal, 4, 5, 0x0100},     {word, 0, 0, 2},
            {equal, 0, 3, 0x2b000000}, {half, 0, 0, 0},
            {equal, 0, 1, 0x00e0},     {BPF_RET | BPF_K, 0, 0, 0x40000},
            {BPF_RET | BPF_K, 0, 0, 0}};
}

/// UDP over IPv4 for a DHCP client, as dhcpcd asks for it: with the place of what is looked at in a register.
inline model::PacketFilter dhcpcd(std::uint16_t port = 68) {
    constexpr std::uint16_t byte = BPF_LD | BPF_B | BPF_IND, half = BPF_LD | BPF_H | BPF_IND,
                            equal = BPF_JMP | BPF_JEQ | BPF_K, with = BPF_ALU | BPF_AND | BPF_K;
    constexpr model::FilterInstruction nothing{BPF_RET | BPF_K, 0, 0, 0};
    return {{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},
            {equal, 1, 0, ETH_P_IP},
            nothing,
            {BPF_LDX | BPF_W | BPF_IMM, 0, 0, 14},
            {byte, 0, 0, 0},
            {with, 0, 0, 0xf0},
            {equal, 1, 0, 0x40},
            nothing,
            {byte, 0, 0, 9},
            {equal, 1, 0, IPPROTO_UDP},
            nothing,
            {half, 0, 0, 6},
            {BPF_JMP | BPF_JSET | BPF_K, 0, 1, 0x1fff},
            nothing,
            {byte, 0, 0, 0},
            {with, 0, 0, 0xf},
            {BPF_ALU | BPF_MUL | BPF_K, 0, 0, 4},
            {BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0},
            {BPF_MISC | BPF_TAX, 0, 0, 0},
            {half, 0, 0, 2},
            {equal, 1, 0, port},
            nothing,
            {BPF_RET | BPF_K, 0, 0, 0x7fffffff}};
}

/// ARP for an address of this host, as dhcpcd asks for it to find out whether somebody else has it.
inline model::PacketFilter dhcpcdArp() {
    constexpr std::uint16_t byte = BPF_LD | BPF_B | BPF_IND, half = BPF_LD | BPF_H | BPF_IND,
                            word = BPF_LD | BPF_W | BPF_IND, equal = BPF_JMP | BPF_JEQ | BPF_K;
    constexpr model::FilterInstruction nothing{BPF_RET | BPF_K, 0, 0, 0}, all{BPF_RET | BPF_K, 0, 0, 42};
    return {{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},
            {equal, 1, 0, ETH_P_ARP},
            nothing,
            {BPF_LDX | BPF_W | BPF_IMM, 0, 0, 14},
            {half, 0, 0, 0},
            {equal, 1, 0, 1}, // Ethernet
            nothing,
            {byte, 0, 0, 4},
            {equal, 1, 0, 6},
            nothing,
            {half, 0, 0, 2},
            {equal, 1, 0, ETH_P_IP},
            nothing,
            {half, 0, 0, 6},
            {equal, 2, 0, 1}, // a question
            {equal, 1, 0, 2},
            nothing,
            {byte, 0, 0, 5},
            {equal, 1, 0, 4},
            nothing,
            {word, 0, 0, 8}, // not from this host
            {equal, 0, 3, 0x667a3675},
            {half, 0, 0, 12},
            {equal, 0, 1, 0xa1ff},
            nothing,
            {word, 0, 0, 14},
            {equal, 0, 1, 0x0a090032},
            all,
            {equal, 1, 0, 0},
            nothing,
            {word, 0, 0, 24},
            {equal, 0, 1, 0x0a090032},
            all,
            nothing};
}

inline void filterBy(int socket, model::PacketFilter filter) {
    static_assert(sizeof(model::FilterInstruction) == sizeof(sock_filter));
    const sock_fprog program{static_cast<unsigned short>(filter.size()),
                             reinterpret_cast<sock_filter*>(filter.data())};
    ASSERT_EQ(::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
}

/// Whether a frame has come.
inline bool hears(int socket) {
    std::array<char, 2048> buffer{};
    return ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0;
}

} // namespace tna::test
