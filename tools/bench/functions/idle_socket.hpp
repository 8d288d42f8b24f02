// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <string>
#include <utility>

namespace tna::bench {

/// An AF_XDP socket at the first queue of a device, with memory, to which nothing is redirected.
class IdleSocket {
public:
    [[nodiscard]] static Result<IdleSocket> bind(const std::string& device);
    IdleSocket(IdleSocket&& other) noexcept
        : socket_(std::move(other.socket_)), memory_(std::exchange(other.memory_, nullptr)) {}
    IdleSocket& operator=(IdleSocket&&) = delete;
    ~IdleSocket();

private:
    IdleSocket(UniqueFd socket, void* memory) : socket_(std::move(socket)), memory_(memory) {}
    UniqueFd socket_;
    void* memory_;
};

} // namespace tna::bench
