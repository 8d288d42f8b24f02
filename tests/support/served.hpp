// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/server.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace tna::test {

/// A control socket in a directory of its own, with this behind it.
template <typename Backend>
class Served : public ::testing::Test {
protected:
    Served() {
        char pattern[] = "/tmp/tna-served-XXXXXX";
        directory_ = ::mkdtemp(pattern);
    }
    ~Served() override {
        server_.reset();
        std::filesystem::remove_all(directory_);
    }
    void serve(const api::Access& access = {}) {
        auto server = api::Server::start(backend_, path(), access);
        ASSERT_TRUE(server) << server.error().sentence();
        server_ = std::move(*server);
    }
    [[nodiscard]] std::string path() const { return directory_ + "/sock"; }
    /// A connection; nothing if nobody listens.
    [[nodiscard]] UniqueFd connected() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof(address.sun_path) - 1);
        UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
            return UniqueFd{};
        return fd;
    }

    Backend backend_;
    std::string directory_;
    std::unique_ptr<api::Server> server_;
};

} // namespace tna::test
