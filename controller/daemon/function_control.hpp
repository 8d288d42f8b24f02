// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/function_files.hpp"
#include "daemon/function_ports.hpp"
#include "daemon/supervisor.hpp"
#include "daemon/way_back_control.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tna::daemon {

/// Declares network functions, steers frames to them, and hands them what they need, in the words of
/// docs/api.md.
class FunctionControl {
public:
    FunctionControl(Supervisor& supervisor, Wanted& wanted, Reporter& reporter)
        : supervisor_(supervisor), wanted_(wanted), reporter_(reporter) {}

    /// Takes in what has come, changed or gone in the directory. What is refused there is told in the log,
    /// and changes nothing.
    void readDirectory(const std::string& directory);
    /// From the text of a declaration. Nothing is different where it cannot be in place.
    [[nodiscard]] Result<nlohmann::json> add(const std::string& name, const std::string& text);
    /// False if there is none. One that a file declares stays.
    [[nodiscard]] Result<bool> remove(const std::string& name);
    /// False if there is none.
    [[nodiscard]] Result<bool> bypass(const std::string& name, bool bypassed);

    [[nodiscard]] nlohmann::json list() const;
    /// Of each, what a status has.
    [[nodiscard]] nlohmann::json summary() const;
    [[nodiscard]] std::optional<nlohmann::json> find(const std::string& name) const;

    /// What is refused says whether it is of use to try again.
    struct Refused {
        Error error;
        bool forGood = false;
    };
    [[nodiscard]] std::expected<functions::Declaration, Refused> declared(const std::string& name) const;
    /// What a process is to get; it may be another one when that has been made, which is not done here.
    [[nodiscard]] std::expected<FunctionPlan, Refused> plan(const functions::Declaration& declared,
                                                            const FunctionCaller& caller) const;
    [[nodiscard]] std::expected<HandedOver, Refused> connect(const FunctionPlan& plan, FunctionParts parts,
                                                             FunctionCaller caller);
    void disconnected(std::uint64_t id);

    /// The network is another one: ports may have come or gone.
    void follow();

private:
    /// Makes the fast path as the set wants it; else says what is against it.
    [[nodiscard]] Result<void> apply();
    [[nodiscard]] Result<void> tellOf(const FunctionSet::Function& function) const;
    [[nodiscard]] Result<void> placeModule();
    [[nodiscard]] Result<void> put(functions::Declaration declared, bool fromFile);
    void takeOut(const std::string& name);
    void endOutdated();
    [[nodiscard]] nlohmann::json viewOf(const FunctionSet::Function& function) const;

    Supervisor& supervisor_;
    Wanted& wanted_;
    Reporter& reporter_;
    FunctionSet set_;
    std::unique_ptr<deploy::Steering> steering_; ///< while there are any functions
    FunctionConnections connections_;
    WayBackControl wayBack_{connections_};
    FunctionPorts ports_; ///< as they are in place
    FunctionFiles files_;
};

} // namespace tna::daemon
