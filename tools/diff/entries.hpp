// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>

namespace tna::diff {

/// What somebody changes of the table of connections by hand, as conntrack(8) and conntrackd do.
struct EntryOrder {
    enum class What {
        add,     ///< established, for all that the kernel knows
        remove,  ///< one
        mark,    ///< to `number`
        timeout, ///< to `number` seconds
        flush,   ///< all of them
    };
    What what = What::flush;
    bool tcp = false;
    std::string from, to; ///< of the first packet: addresses of IPv4 or of IPv6
    std::uint16_t fromPort = 0, toPort = 0;
    std::uint32_t number = 0;
    struct End {
        std::string address; ///< empty: it stays what it is
        std::uint16_t port = 0;
    };
    End source, destination; ///< which Linux puts in
};

/// "add udp 10.0.0.2 4000 10.0.1.2 53", "delete", "mark" and "timeout" likewise (those with a number behind
/// it), "flush". Behind an entry that is added, "source 10.0.1.9 4001" and "destination 10.0.1.2 5000" say
/// what packets become.
[[nodiscard]] Result<EntryOrder> entryOrder(const std::string& words);

/// In the calling thread's namespace. 0, or errno.
[[nodiscard]] int carryOut(const EntryOrder& order);

} // namespace tna::diff
