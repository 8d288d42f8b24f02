// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "model/layers.hpp"
#include "model/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::assemble {

/// What a driver has done with a frame before an XDP program sees it.
enum class Receive {
    finished, ///< all that Linux would see of it
    seen,     ///< what a local sender left to do is seen by the fast path, where it reads in place
    undone,   ///< something that the fast path cannot see
    never,    ///< no frame is taken from it
};

/// What a frame meets that is redirected to a device, compared with one that Linux sends by it.
enum class Send {
    same,
    skips, ///< something is left out that may change the frame, or drop it
    never,
};

enum class Evidence { tested, read };

/// What is known about a kind of device, or a driver: which of Linux's work XDP does not meet there.
struct Device {
    std::vector<std::string> names; ///< IFLA_INFO_KIND; of devices without one the driver, as ethtool -i says
    Receive receive;
    std::string received; ///< why, for people
    Send send;
    std::string sent;
    unsigned shortest = 0; ///< bytes: what is shorter is padded by Linux's way out only
    Evidence evidence = Evidence::read;
    /// Of faces of other devices: a socket buffer that is redirected to it meets there, and below, what one
    /// meets that Linux forwards.
    bool sameAtTcx = false;
};

/// All that is known. Whatever is not in it is left to Linux.
[[nodiscard]] const std::vector<Device>& knownDevices();

/// Null: nothing is known.
[[nodiscard]] const Device* knownDevice(const model::Link& link);

/// Whether a link may be a port at all: it is the end of a cable, of whatever kind, and no device on top of
/// others. What is not known may be.
[[nodiscard]] bool mayBePort(const model::Link& link);

/// The same where ports are at tcx.
[[nodiscard]] bool mayBePortAtTcx(const model::Link& link);

/// Whether its driver may refuse a frame that is redirected to it, for want of a transmit queue for instance.
/// A veth does so only while its other end is down or takes none, which is looked at before.
[[nodiscard]] bool mayRefuse(const model::Link& link);

/// What the operator has said about a device.
struct Promises {
    bool trusted = false;  ///< it may be a port although nothing is known, or something known is against it
    bool finished = false; ///< those who send into it finish their frames
};

/// What stands in the way of a device, in either direction.
struct Judgement {
    std::optional<Reason> ingress;
    std::optional<Reason> egress;
    std::optional<Reason> tcx; ///< the same at tcx, in both directions
    unsigned shortest = 0;     ///< of frames that may leave by it
};

/// `seen`: what is beside a frame can be seen, because the kernel is read in place.
[[nodiscard]] Judgement judge(const model::Network& network, const model::Layers& layers,
                              const model::Link& link, const Promises& promises, bool seen);

/// The list as docs/devices.md has it.
[[nodiscard]] std::string devicesAsMarkdown();

} // namespace tna::assemble
