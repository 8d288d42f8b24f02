// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::ctl {

/// A file that tcpdump and Wireshark read, with the beginnings of traced packets.
class Pcap {
public:
    [[nodiscard]] static Result<Pcap> create(const std::string& path);
    /// A traced packet; it is in the file at once.
    [[nodiscard]] bool write(const nlohmann::json& document);

private:
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    explicit Pcap(File file) : file_(std::move(file)) {}
    File file_;
};

} // namespace tna::ctl
