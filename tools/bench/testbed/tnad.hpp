// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace tna::bench {

/// Where this program lies.
[[nodiscard]] std::filesystem::path ownFolder();
/// The file to run: as named, or the one beside this program: as built, or as installed.
[[nodiscard]] Result<std::string> findTnad(const std::string& named);

/// What its configuration says of the ports that are measured.
struct TnadWay {
    std::string fdb = "auto"; ///< how stations are found
    bool tcx = false;         ///< the ports are at tcx
};

/// The daemon itself, in the calling thread's network namespace, with a configuration and a socket of its
/// own that are gone when the object is.
class Tnad {
public:
    /// `connections` that rules let pass and that are remembered; an older daemon does not know any.
    [[nodiscard]] static Result<Tnad> start(const std::string& file, const TnadWay& way = {},
                                            unsigned connections = 0);
    /// The same with a configuration of the caller's.
    [[nodiscard]] static Result<Tnad> startAs(const std::string& file, const std::string& configuration);
    Tnad(Tnad&&) noexcept = default;
    Tnad& operator=(Tnad&&) = delete;
    ~Tnad();

    /// Until these many ports are accelerated. Fails when it ends, leaves a port to Linux, or takes too
    /// long.
    [[nodiscard]] Result<void> waitAccelerated(std::size_t ports);
    [[nodiscard]] Result<nlohmann::json> get(const std::string& path);
    [[nodiscard]] Result<nlohmann::json> put(const std::string& path, const std::string& body);
    /// A port's document under "port" (docs/api.md).
    [[nodiscard]] Result<nlohmann::json> port(const std::string& name);
    /// Where processes of network functions connect.
    [[nodiscard]] std::string functionSocket() const { return folder_.path() + "/functions.sock"; }
    /// SIGKILL: it cannot clean up.
    void kill() { process_.end(SIGKILL); }
    void stop() { process_.end(SIGTERM); }
    [[nodiscard]] Process& process() { return process_; }
    [[nodiscard]] const Process& process() const { return process_; }

private:
    Tnad(TemporaryFolder folder, Process process)
        : folder_(std::move(folder)), process_(std::move(process)) {}
    [[nodiscard]] Error ended() const;
    [[nodiscard]] std::string socket() const { return folder_.path() + "/tnad.sock"; }
    TemporaryFolder folder_;
    Process process_;
};

} // namespace tna::bench
