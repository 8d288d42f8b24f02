// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/scenario.hpp"

#include <memory>
#include <span>
#include <string>

namespace tna::bench {

/// A way for a program to send frames: they are written in place, a few of them, and then go out together.
class Sender {
public:
    virtual ~Sender() = default;
    /// How many frames can go out together.
    [[nodiscard]] virtual unsigned room() const = 0;
    /// Where the nth of them is written.
    [[nodiscard]] virtual std::span<unsigned char> frame(unsigned index) = 0;
    virtual void setSize(unsigned index, std::size_t size) = 0;
    /// Sends the frames from `first` to before `end`; says how many of them went out, which may be none while
    /// the device is busy.
    [[nodiscard]] virtual Result<unsigned> send(unsigned first, unsigned end) = 0;
};

/// On a device of the calling thread's network namespace; `queue` is one of its own.
[[nodiscard]] Result<std::unique_ptr<Sender>> makePacketSender(const std::string& device);
[[nodiscard]] Result<std::unique_ptr<Sender>> makeXdpSender(const std::string& device, unsigned queue);

} // namespace tna::bench
