// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/cabling.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tna::bench {

/// What was found of one measurement.
struct Reading {
    double seconds = 0;
    std::uint64_t offered = 0;
    std::uint64_t handled = 0;

    [[nodiscard]] double mpps() const {
        return seconds > 0 ? static_cast<double>(handled) / seconds / 1e6 : 0;
    }
    [[nodiscard]] double loss() const {
        return offered > handled ? 1 - static_cast<double>(handled) / static_cast<double>(offered) : 0;
    }
};

/// Something that is measured beside tenants: it has one processor for its driver and itself, another one
/// offers it as many frames as it can.
class Subject {
public:
    virtual ~Subject() = default;
    [[nodiscard]] virtual Result<Reading> measure(unsigned frameSize, double seconds) = 0;
};

struct SubjectKind {
    std::string_view name;
    std::string_view words;
    bool drops; ///< computes checksums and drops; or forwards
};

constexpr std::array<SubjectKind, 9> subjectKinds{
    {{"xdp", "an XDP program computes the checksum and drops", true},
     {"dpdk", "a program of DPDK does, by AF_XDP", true},
     {"dpdk-packet", "the same by packet sockets", true},
     {"dpdk-pmd", "the same by a driver of DPDK's own; see --pmd", true},
     {"linux", "Linux does, before anything else", true},
     {"bridge", "a bridge of plain Linux", false},
     {"bridge-tna", "the same with tnad", false},
     {"router", "a router of plain Linux", false},
     {"router-tna", "the same with tnad", false}}};

class DropPlace;
class Dropping;
/// Frames that are offered at a place, and are dropped there or elsewhere.
[[nodiscard]] std::unique_ptr<Subject> makeDropper(std::shared_ptr<DropPlace> place,
                                                   std::unique_ptr<Dropping> dropping);
/// One that forwards frames of a size, with the daemon in a file; or another machine, which the cabling's
/// command has forward as a subject whose name follows.
[[nodiscard]] Result<std::unique_ptr<Subject>> makeForwarder(const std::string& name, unsigned frameSize,
                                                             const std::string& tnad, const Cabling& cabling);

} // namespace tna::bench
