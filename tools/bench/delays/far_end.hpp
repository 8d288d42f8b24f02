// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "bench/delays/settings.hpp"

#include <array>
#include <memory>
#include <optional>

namespace tna::bench {

/// Who sends probes back: a device of this machine, or another machine that a command makes do so.
class FarEnd {
public:
    virtual ~FarEnd() = default;
    /// What sends back lasts as long as this.
    using Running = std::shared_ptr<void>;
    [[nodiscard]] virtual Result<Running> forward(Settings settings) = 0;
    /// Without a socket, by XDP_TX.
    [[nodiscard]] virtual Result<Running> echo() = 0;
    /// By an ordinary socket; null where it has no address for that.
    [[nodiscard]] virtual Result<Running> echoUdp() = 0;
    /// Its address of IPv4, or nothing.
    [[nodiscard]] virtual std::string address() const = 0;
    [[nodiscard]] virtual const std::array<unsigned char, 6>& mac() const = 0;
    /// Why it cannot have a setting; empty if it can.
    [[nodiscard]] virtual std::string whyMissing(Knob knob) = 0;
};

[[nodiscard]] Result<std::unique_ptr<FarEnd>> makeFarEnd(const NetNamespace& where, const std::string& device,
                                                         const std::string& address);
/// The command gets one word more: the settings that are on, or what is done instead. It tells its hardware
/// address when it has begun, and ends with its standard input.
[[nodiscard]] Result<std::unique_ptr<FarEnd>> makeFarEndElsewhere(const std::string& command,
                                                                  const std::string& address);

/// What such a command does, on an interface of this machine, until its standard input ends.
[[nodiscard]] Result<void> serveAsFarEnd(const std::string& device, const std::string& word);

/// "busy_poll,need_wakeup", or "none"
[[nodiscard]] std::string wordOf(Settings settings);
/// Nothing for a word that is none.
[[nodiscard]] std::optional<Settings> settingsOf(const std::string& word);

} // namespace tna::bench
