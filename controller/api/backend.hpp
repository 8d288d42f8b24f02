// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/line_sink.hpp"
#include "base/error.hpp"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tna::api {

/// Where a custom module is wanted; empty lists stand for everywhere.
struct Placement {
    static constexpr unsigned mostPriority = 65535;
    std::vector<std::string> hooks; ///< "ingress", ...; empty: all that it has functions for
    std::vector<std::string> ports; ///< shell patterns of names
    std::vector<std::string> kinds; ///< shell patterns of link kinds and drivers
    int priority = 100;             ///< lower ones first
    bool operator==(const Placement&) const = default;
};

/// Which packets are to be traced.
struct TraceWish {
    std::optional<std::string> port; ///< all that are accelerated, if none is named
    unsigned oneIn = 1;              ///< of so many packets of each CPU
};

/// Custom modules.
class ModuleBackend {
public:
    virtual ~ModuleBackend() = default;
    virtual nlohmann::json list() = 0;
    /// Nothing if there is no such module, or no such map of its own where one is named.
    virtual std::optional<nlohmann::json> find(const std::string& name,
                                               const std::optional<std::string>& map) = 0;
    /// In the place of the one of this name if `replace`; then there must be one, else there must be none.
    virtual Result<nlohmann::json> place(const std::string& name, const std::string& object,
                                         const Placement& placement, bool replace) = 0;
    /// False if there is none.
    virtual Result<bool> remove(const std::string& name) = 0;
};

/// Network functions.
class FunctionBackend {
public:
    virtual ~FunctionBackend() = default;
    virtual nlohmann::json list() = 0;
    /// Nothing if there is no such function.
    virtual std::optional<nlohmann::json> find(const std::string& name) = 0;
    /// From the text of a declaration; takes the place of the one of this name, if there is one.
    virtual Result<nlohmann::json> declare(const std::string& name, const std::string& text) = 0;
    /// False if there is none.
    virtual Result<bool> remove(const std::string& name) = 0;
    virtual Result<bool> bypass(const std::string& name, bool bypassed) = 0;
};

/// What the API tells and changes; documents as in docs/api.md. Called from the server's threads.
class Backend {
public:
    virtual ~Backend() = default;
    virtual nlohmann::json status() = 0;
    /// Nothing if there is no such port.
    virtual std::optional<nlohmann::json> port(const std::string& name) = 0;
    /// What becomes of a packet that comes in by a port.
    virtual Result<nlohmann::json> route(const std::string& port, const std::string& from,
                                         const std::string& to) = 0;
    /// What happened since the start; cheap enough to be asked often.
    virtual nlohmann::json events() = 0;
    /// Writes what happens from now on, an event a line; closes the lines of who does not keep up.
    virtual void follow(const std::shared_ptr<LineSink>& lines) = 0;
    /// Writes what is decided about packets, until what is returned is destroyed.
    virtual Result<std::shared_ptr<void>> trace(const TraceWish& wish,
                                                const std::shared_ptr<LineSink>& lines) = 0;
    virtual nlohmann::json graph() = 0;
    virtual nlohmann::json capabilities() = 0;
    /// The rule sets of nf_tables as they are now, and whether they treat all packets of a flow alike.
    virtual nlohmann::json rules() = 0;
    /// All ports if none is named. False if there is no such port.
    virtual bool pause(const std::optional<std::string>& port, bool paused) = 0;

    virtual ModuleBackend& modules() = 0;
    virtual FunctionBackend& functions() = 0;
};

} // namespace tna::api
