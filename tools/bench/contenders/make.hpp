// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

namespace tna::bench {

// What there is to be measured, each kind in a file of its own.

[[nodiscard]] std::unique_ptr<Contender> makeLinux(bool bridgeNetfilter);
[[nodiscard]] std::unique_ptr<Contender> makeTna(const std::string& file, const std::string& fdb,
                                                 const Setup& setup);
[[nodiscard]] std::unique_ptr<Contender> makeTnaAtTcx(const std::string& file, const Setup& setup);
[[nodiscard]] std::unique_ptr<Contender> makeFlowtable();
/// Another machine, at the far ends of two cables.
[[nodiscard]] std::unique_ptr<Contender> makeCabled(const std::string& name, const Cabling& cabling);
[[nodiscard]] std::unique_ptr<Contender> makeCeiling();
[[nodiscard]] std::unique_ptr<Contender> makeDirect();
[[nodiscard]] std::unique_ptr<Contender> makeXdpForward();
/// How a program outside of the kernel gets frames from devices that it has no driver for.
enum class FrameSocket { xdp, packet };
[[nodiscard]] std::unique_ptr<Contender> makeOvs(FrameSocket socket);
[[nodiscard]] std::unique_ptr<Contender> makeDpdk(FrameSocket socket);
/// Which of Polycube's bridges: the one without VLANs and spanning tree, or the one with both.
enum class PolycubeBridge { simple, whole };
[[nodiscard]] std::unique_ptr<Contender> makePolycube(Scenario scenario, PolycubeBridge bridge);

} // namespace tna::bench
