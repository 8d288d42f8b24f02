// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <sys/types.h>

namespace tna::test {

/// By which way a program asks the kernel for something.
enum class Call {
    bpf,     ///< bpf(2)
    netlink, ///< a netlink socket made, a request sent, a message received
    file,    ///< a file opened
};

/// While it lives, one of this process's calls to the kernel goes wrong, or comes too late, whichever thread
/// makes it. A message that is not received is lost.
class Fault {
public:
    /// The call with this number, counted from 0 on, gets an error.
    Fault(Call call, unsigned number, int error);
    /// The process is killed instead: before the call, or right after it.
    enum class Kill { before, after };
    Fault(Call call, unsigned number, Kill when);
    /// Just before the call, something else happens.
    Fault(Call call, unsigned number, std::function<void()> meanwhile);
    Fault(const Fault&) = delete;
    Fault& operator=(const Fault&) = delete;
    ~Fault();

    /// Whether that many calls have been made.
    [[nodiscard]] static bool happened();
    /// How many have been made so far.
    [[nodiscard]] static unsigned calls();
};

/// While it lives, the process that reads a custom module's object hangs before it has begun.
class HangingReader {
public:
    HangingReader();
    HangingReader(const HangingReader&) = delete;
    HangingReader& operator=(const HangingReader&) = delete;
    ~HangingReader();
    /// Whether there is one.
    [[nodiscard]] static bool there();
};

} // namespace tna::test
