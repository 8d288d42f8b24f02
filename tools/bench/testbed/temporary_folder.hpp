// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <sys/types.h>
#include <utility>

namespace tna::bench {

/// A folder for configuration, sockets and logs of what a run starts; gone when the object is.
class TemporaryFolder {
public:
    [[nodiscard]] static Result<TemporaryFolder> make(const std::string& where = "/tmp");
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }
    ~TemporaryFolder();

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Removes those of runs that were killed; says how many.
    static unsigned removeLeftovers(const std::string& where = "/tmp");

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

/// Whether a process has ended, whether or not its parent has noticed.
[[nodiscard]] bool isDead(pid_t process);
/// Whether the process is dead that a name's number after the prefix stands for.
[[nodiscard]] bool ownerIsDead(const std::string& name, const std::string& prefix);

} // namespace tna::bench
