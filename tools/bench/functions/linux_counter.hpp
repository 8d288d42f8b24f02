// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <libmnl/libmnl.h>
#include <memory>
#include <string>

namespace tna::bench {

/// Of a device in the namespace that it was opened in: frames that came as far as Linux's IPv4 and are for
/// another station (rx_otherhost_dropped, since Linux 5.19).
class LinuxCounter {
public:
    [[nodiscard]] static Result<LinuxCounter> open(const std::string& device);
    [[nodiscard]] Result<std::uint64_t> frames();

private:
    struct Close {
        void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
    };
    LinuxCounter(std::unique_ptr<mnl_socket, Close> socket, unsigned device)
        : socket_(std::move(socket)), device_(device) {}
    std::unique_ptr<mnl_socket, Close> socket_;
    unsigned device_;
    unsigned sequence_ = 0;
};

} // namespace tna::bench
