// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tna::test {

/// What systemd is to a service that leaves descriptors for the next process: sd_notify(3), sd_listen_fds(3).
class DescriptorStore {
public:
    /// At a path that is free.
    explicit DescriptorStore(std::string path);

    struct Stored {
        std::string name;
        UniqueFd fd;
    };
    /// How many there are.
    [[nodiscard]] std::size_t size() const;
    /// What is stored by now, which is stored no longer.
    [[nodiscard]] std::vector<Stored> take();
    void put(std::vector<Stored> stored);
    /// What starts a program with all of it.
    [[nodiscard]] std::vector<std::string> prefix() const;

private:
    void run(const std::stop_token& stop);
    void receive();
    void obey(const std::string& message, std::vector<UniqueFd> fds);

    std::string path_;
    UniqueFd socket_;
    mutable std::mutex mutex_;
    std::vector<Stored> stored_;
    std::jthread thread_;
};

} // namespace tna::test
