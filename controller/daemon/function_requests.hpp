// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "api/peer.hpp"
#include "daemon/function_control.hpp"

#include <mutex>

namespace tna::daemon {

/// What is asked about network functions, from several threads: by the control socket, and by processes that
/// want to be one. A name service that is slow, and a kernel that is, are asked without the lock.
class FunctionRequests : public api::FunctionBackend {
public:
    /// What is passed must outlive it; `lock` is that of who works with the functions.
    FunctionRequests(std::mutex& lock, FunctionControl& functions) : mutex_(lock), functions_(functions) {}

    nlohmann::json list() override;
    std::optional<nlohmann::json> find(const std::string& name) override;
    Result<nlohmann::json> declare(const std::string& name, const std::string& text) override;
    Result<bool> remove(const std::string& name) override;
    Result<bool> bypass(const std::string& name, bool bypassed) override;

    /// A process wants to be a network function; see FunctionServer, which calls it from one thread.
    [[nodiscard]] std::expected<HandedOver, FunctionControl::Refused>
    connect(const std::string& name, const api::Peer& peer, FunctionCaller caller);
    void disconnected(std::uint64_t connection);

private:
    template <typename Ask>
    auto locked(Ask ask) {
        const std::lock_guard lock{mutex_};
        return ask();
    }

    std::mutex& mutex_;
    FunctionControl& functions_;
};

} // namespace tna::daemon
