// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>

namespace tna::wires {

/// All UDP over IPv4 for a port, as ISC's DHCP client and server ask packet sockets for it.
[[nodiscard]] constexpr std::array<sock_filter, 11> udpFilter(std::uint16_t port) {
    return {{{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},
             {BPF_JMP | BPF_JEQ | BPF_K, 0, 8, ETH_P_IP},
             {BPF_LD | BPF_B | BPF_ABS, 0, 0, 23},
             {BPF_JMP | BPF_JEQ | BPF_K, 0, 6, IPPROTO_UDP},
             {BPF_LD | BPF_H | BPF_ABS, 0, 0, 20},
             {BPF_JMP | BPF_JSET | BPF_K, 4, 0, 0x1fff},
             {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 14},
             {BPF_LD | BPF_H | BPF_IND, 0, 0, 16},
             {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, port},
             {BPF_RET | BPF_K, 0, 0, 0xffffffff},
             {BPF_RET | BPF_K, 0, 0, 0}}};
}

} // namespace tna::wires
