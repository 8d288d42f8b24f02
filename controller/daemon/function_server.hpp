// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/listening.hpp"
#include "daemon/function_requests.hpp"

#include <atomic>
#include <map>
#include <thread>

namespace tna::daemon {

/// Where processes connect that want to be network functions: a Unix socket that anybody may knock at. Who
/// they are, the kernel says; what they may be, the declarations say.
class FunctionServer {
public:
    /// Serves until destruction. Who has connected before is answered then.
    [[nodiscard]] static Result<std::unique_ptr<FunctionServer>> start(FunctionRequests& functions,
                                                                       api::Listening listening);
    FunctionServer(const FunctionServer&) = delete;
    FunctionServer& operator=(const FunctionServer&) = delete;
    ~FunctionServer();

private:
    struct Client {
        UniqueFd fd;
        uid_t user = 0;
        std::uint64_t connection = 0; ///< 0: it has not said yet who it is
        std::chrono::steady_clock::time_point deadline;
    };
    FunctionServer(FunctionRequests& functions, api::Listening place, UniqueFd wake);
    void run();
    void wait();
    void accept();
    /// False: it is to be hung up on.
    [[nodiscard]] bool serve(Client& client);
    [[nodiscard]] bool greet(Client& client);

    FunctionRequests& functions_;
    api::Listening place_;
    UniqueFd listening_;
    UniqueFd wake_;
    std::vector<Client> clients_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

} // namespace tna::daemon
