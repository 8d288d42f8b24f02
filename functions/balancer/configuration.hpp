// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "address.hpp"
#include "base/error.hpp"

#include <string>
#include <vector>

namespace tna::balancer {

struct BackendSettings {
    Endpoint endpoint;
    unsigned weight = 1;    ///< 0: it gets nothing new
    std::optional<Mac> mac; ///< where it answers by itself
    std::string device;     ///< then: by which port frames leave to it; empty: that by which they came in
    bool operator==(const BackendSettings&) const = default;
};

/// How one learns whether a backend is there.
struct CheckSettings {
    std::string kind;         ///< "tcp": it can be connected to; "http": it answers with status 200; "none"
    unsigned port = 0;        ///< 0: the backend's
    unsigned interval = 2000; ///< milliseconds
    unsigned timeout = 1000;  ///< milliseconds
    unsigned rise = 2;        ///< good ones after which it is there
    unsigned fall = 3;        ///< bad ones after which it is not
    std::string path;         ///< of HTTP
    std::string host;         ///< of HTTP
    bool operator==(const CheckSettings&) const = default;
};

struct ServiceSettings {
    std::string name;
    Place place;
    bool direct = false;    ///< backends have its address themselves, and answer past this machine
    bool byAddress = false; ///< all of a client's connections go to the same backend
    unsigned idle = 900;    ///< seconds after which a session is forgotten
    unsigned table = 65537; ///< places, a prime number
    CheckSettings check;
    std::vector<BackendSettings> backends;
    bool operator==(const ServiceSettings&) const = default;
};

struct Configuration {
    unsigned sessions = 65536; ///< at most
    unsigned adopt = 60;       ///< seconds after the start in which answers make sessions
    std::vector<ServiceSettings> services;
    bool operator==(const Configuration&) const = default;
};

/// From the words of tna-balancer(1); errors say where, what was expected and what was found.
[[nodiscard]] Result<Configuration> parseConfiguration(const std::string& text, const std::string& file);

} // namespace tna::balancer
