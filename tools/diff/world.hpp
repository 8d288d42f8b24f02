// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"
#include "diff/ears.hpp"
#include "diff/entries.hpp"
#include "diff/shell.hpp"
#include "diff/unasked.hpp"
#include "wires/fence.hpp"

#include <map>
#include <optional>
#include <set>

namespace tna::diff {

using wires::Fence;
using wires::Wire;

/// What was seen in a world since the last look, without what comes when it likes.
struct Seen {
    /// By the place: "p0" for what came out there, "capture on p0" for what a capture there saw, "listener on
    /// p0" likewise.
    std::map<std::string, std::vector<Frame>> frames;
    std::vector<std::string> heard; ///< by the host's own stack
    /// Since the beginning: to whom the host has ever sent a redirect, and where.
    std::set<std::string> redirected{};
};

/// Where the far ends of all ports are, and the fence.
class FarSide {
public:
    [[nodiscard]] static Result<FarSide> make();
    [[nodiscard]] const NetNamespace& home() const { return home_; }
    [[nodiscard]] const Shell& shell() const { return shell_; }
    [[nodiscard]] Result<void> settle() const { return fence_.pass(); }

private:
    FarSide(NetNamespace home, Shell shell, Fence fence)
        : home_(std::move(home)), shell_(std::move(shell)), fence_(std::move(fence)) {}
    NetNamespace home_;
    Shell shell_;
    Fence fence_;
};

/// A namespace with ports that are the near ends of cables. All worlds are made alike, to the last address.
class World {
public:
    [[nodiscard]] static Result<World> make(const std::string& name, const FarSide& far,
                                            const std::vector<std::string>& ports);

    [[nodiscard]] const NetNamespace& home() const { return home_; }
    /// As Shell::run(); returns when the kernel has noticed what became of links.
    [[nodiscard]] Result<std::string> run(const std::string& words);
    [[nodiscard]] Result<void> setCarrier(const std::string& port, bool on);
    [[nodiscard]] Result<void> setCapture(const std::string& port, bool on);
    [[nodiscard]] Result<void> setListener(const std::string& port, bool on);
    /// 0, or why not.
    [[nodiscard]] Result<int> carryOut(const EntryOrder& order) const;
    [[nodiscard]] int send(unsigned port, const Frame& frame) const { return far_[port].wire.send(frame); }
    [[nodiscard]] Result<Seen> look();
    /// What Linux remembers: stations, neighbours, routes, VLANs, groups, connections.
    [[nodiscard]] Result<std::string> memory() const;
    /// A file of /proc/net.
    [[nodiscard]] Result<std::string> statistics(const std::string& file) const;

private:
    /// Opens a socket on a port in the place of the one before, if any; null: none.
    [[nodiscard]] Result<void> setSocket(std::map<std::string, Wire>& all, const std::string& port,
                                         Result<Wire> (*open)(const std::string&));

    struct FarEnd {
        std::string name;
        Wire wire;
    };
    World(const FarSide& farSide, NetNamespace home, Shell shell, Ears ears, std::vector<std::string> ports)
        : farSide_(&farSide), home_(std::move(home)), shell_(std::move(shell)), ears_(std::move(ears)),
          ports_(std::move(ports)) {}
    [[nodiscard]] Result<void> plugIn(const std::string& name);
    [[nodiscard]] Result<void> awaitLinks();
    void takeAddresses();
    void takeLocalRoutes();
    void takeLocalRoutes4();

    const FarSide* farSide_;
    NetNamespace home_;
    Shell shell_;
    Ears ears_;
    std::vector<std::string> ports_;
    std::vector<FarEnd> far_;
    std::map<std::string, Wire> captures_;
    std::map<std::string, Wire> listeners_;
    Own own_;
    std::set<std::string> redirected_;
};

} // namespace tna::diff
