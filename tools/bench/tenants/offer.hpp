// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "base/unique_fd.hpp"
#include "bench/testbed/own_namespace.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

struct drop;

namespace tna::bench {

/// Interfaces of this machine, or none: then a pair is made between two namespaces.
struct DropEnds {
    std::string tx; ///< frames are offered by it
    std::string rx; ///< and come to this one, or to this hardware address, which Linux has no driver for; one
                    ///< of the ends may be another machine's
    [[nodiscard]] bool named() const { return !tx.empty() || !rx.empty(); }
};

/// g0 -- d0, in a namespace each, and the programs for both; or two interfaces that are cabled to each other,
/// or this machine's end of a cable.
class DropPlace {
public:
    [[nodiscard]] static Result<std::unique_ptr<DropPlace>> make(unsigned times, const DropEnds& ends = {});
    DropPlace(const DropPlace&) = delete;
    DropPlace& operator=(const DropPlace&) = delete;
    ~DropPlace();

    [[nodiscard]] const NetNamespace& generator() const { return here_ ? *here_ : namespaces_[0].handle(); }
    [[nodiscard]] const NetNamespace& device() const { return here_ ? *here_ : namespaces_[1].handle(); }
    /// In device(), where frames come in.
    [[nodiscard]] const std::string& deviceName() const { return names_[1]; }
    /// Interfaces of this machine have room for one program each.
    [[nodiscard]] bool cabled() const { return here_.has_value(); }
    /// Of the device where frames come in.
    [[nodiscard]] const std::array<unsigned char, 6>& deviceMac() const { return macs_[1]; }
    /// It is another machine's.
    void setDeviceMac(const std::array<unsigned char, 6>& mac) { macs_[1] = mac; }
    /// As they leave the generator's device.
    [[nodiscard]] std::vector<unsigned char> frame(unsigned size) const;
    [[nodiscard]] int offerProgram() const;
    [[nodiscard]] int workProgram() const;
    /// A card is made ready to send for as long as the result lives; others may have it otherwise.
    [[nodiscard]] Result<UniqueFd> prepareCard() const;
    /// To the device under test. A sender's card that is full has not offered what it refuses; a veth that
    /// refuses is full at its far end, which is the one under test.
    [[nodiscard]] std::uint64_t offered() const { return counted(countsAtCard_ ? 2 : 0); }
    [[nodiscard]] std::uint64_t dropped() const { return counted(1); }
    /// What the sender's device has taken and refused.
    [[nodiscard]] std::uint64_t taken() const { return counted(2); }
    [[nodiscard]] std::uint64_t refused() const { return counted(3); }

private:
    DropPlace() = default;
    [[nodiscard]] Result<void> build();
    [[nodiscard]] Result<void> use(const DropEnds& ends);
    [[nodiscard]] Result<void> readMacs();
    [[nodiscard]] Result<void> load(unsigned times);
    [[nodiscard]] std::uint64_t counted(unsigned which) const;
    std::vector<OwnNamespace> namespaces_;
    std::optional<NetNamespace> here_;
    std::array<std::string, 2> names_{"g0", "d0"};
    std::array<std::array<unsigned char, 6>, 2> macs_{};
    bool countsAtCard_ = false;
    UniqueFd card_; ///< what watches it
    ::drop* programs_ = nullptr;
};

/// What all processors together have counted at one place of a map.
[[nodiscard]] std::uint64_t sumOfProcessors(int map, unsigned place);

/// A frame of IPv4 whose header checksum is wrong, from a station to another one.
[[nodiscard]] std::vector<unsigned char> wrongFrame(unsigned size, const std::array<unsigned char, 6>& from,
                                                    const std::array<unsigned char, 6>& to);

/// Sends such frames from the last processor, as many as it can, for as long as this lives.
class Offer {
public:
    /// `program`: another one than the place's.
    Offer(const DropPlace& place, unsigned size, std::optional<int> program = {});
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;
    ~Offer() { [[maybe_unused]] const auto ended = stop(); }
    /// Whether all went well.
    [[nodiscard]] Result<void> stop();

private:
    [[nodiscard]] Result<void> send(const DropPlace& place) const;
    std::vector<unsigned char> frame_;
    int program_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> done_{false};
    Result<void> result_;
    std::thread thread_;
};

} // namespace tna::bench
