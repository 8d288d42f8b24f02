// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <vector>

namespace tna::config {

/// Which ports are accelerated. Patterns are shell globs on interface names.
struct Ports {
    std::vector<std::string> include{"*"};
    std::vector<std::string> exclude;
    std::vector<std::string> excludeDrivers;
    /// Kinds whose local senders would lose segmentation offload to XDP.
    std::vector<std::string> excludeKinds{"veth", "tun", "tap"};
    /// Kinds whose ports are accelerated at tcx, where frames stay as their senders have left them.
    std::vector<std::string> tcxKinds{"veth", "tun"};
    /// The same by name, of whatever kind.
    std::vector<std::string> tcx;
    /// A promise about those who send into these: checksums are written, segments cut, tags in the frame.
    std::vector<std::string> finishedFrames;
    /// Drivers and kinds that are taken for safe, although nobody knows, or something is known against them.
    std::vector<std::string> trustedDrivers;
    /// Ports at tcx that forward little of what they look at are left to Linux for a while.
    bool rest = true;
    bool operator==(const Ports&) const = default;
};

struct Daemon {
    std::string socket = "/run/tna/tnad.sock";
    std::string socketGroup = "tna"; ///< may look
    std::string changeGroup = "tna"; ///< may change something, if they may look
    std::string logLevel = "info";
    bool operator==(const Daemon&) const = default;
};

struct Limits {
    unsigned maxPorts = 1024;
    unsigned flowsPerCpu = 16384;
    unsigned maxStations = 131072;
    unsigned manyRoutes = 4096;      ///< from so many on destinations are remembered
    unsigned destinations = 4194304; ///< so many, by all CPUs; 0: none
    unsigned connections = 16384;    ///< that are learnt where packets pass rules; 0: those are left to Linux
    bool operator==(const Limits&) const = default;
};

struct Kernel {
    std::string fdb = "auto";  ///< "auto", "in-place", "kfunc", "mirror"
    unsigned refresh = 500;    ///< milliseconds: so old is the entry of a station in use at most
    unsigned selfCheck = 1024; ///< one packet in so many is decided twice; 0: none
    bool operator==(const Kernel&) const = default;
};

struct Metrics {
    std::string listen; ///< ADDRESS:PORT; empty: on the control socket alone
    bool operator==(const Metrics&) const = default;
};

struct Modules {
    /// Where custom modules are kept, so that they survive a restart; "": nowhere.
    std::string directory = "/var/lib/tna/modules";
    bool operator==(const Modules&) const = default;
};

struct Functions {
    /// Where network functions are declared, a file each; "": nowhere.
    std::string directory = "/etc/tna/functions.d";
    bool operator==(const Functions&) const = default;
};

struct Config {
    Ports ports;
    Kernel kernel;
    Daemon daemon;
    Limits limits;
    Metrics metrics;
    Modules modules;
    Functions functions;
    bool operator==(const Config&) const = default;
};

/// From the most talkative to none.
[[nodiscard]] const std::vector<std::string>& logLevels();

/// How the fast path may find stations.
[[nodiscard]] const std::vector<std::string>& fdbWays();

/// Reads a configuration; errors say file, line, what was expected and what was found.
[[nodiscard]] Result<Config> parseConfig(const std::string& text, const std::string& name);
[[nodiscard]] Result<Config> loadConfig(const std::string& path);

} // namespace tna::config
