// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_requests.hpp"

#include "daemon/function_access.hpp"

#include <nlohmann/json.hpp>

namespace tna::daemon {

using nlohmann::json;

namespace {
/// Not for who has the lock.
void tellWhoIsUnknown(json& function) {
    function["unknown"] = unknownAmong(function["users"], function["groups"]);
}
} // namespace

json FunctionRequests::list() {
    auto list = locked([&] { return functions_.list(); });
    for (auto& function : list["functions"])
        tellWhoIsUnknown(function);
    return list;
}

std::optional<json> FunctionRequests::find(const std::string& name) {
    auto function = locked([&] { return functions_.find(name); });
    if (function)
        tellWhoIsUnknown(*function);
    return function;
}

Result<json> FunctionRequests::declare(const std::string& name, const std::string& text) {
    auto function = locked([&] { return functions_.add(name, text); });
    if (function)
        tellWhoIsUnknown(*function);
    return function;
}

Result<bool> FunctionRequests::remove(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return functions_.remove(name);
}

Result<bool> FunctionRequests::bypass(const std::string& name, bool bypassed) {
    const std::lock_guard lock{mutex_};
    return functions_.bypass(name, bypassed);
}

std::expected<HandedOver, FunctionControl::Refused>
FunctionRequests::connect(const std::string& name, const api::Peer& peer, FunctionCaller caller) {
    const auto declared = locked([&] { return functions_.declared(name); });
    if (!declared)
        return std::unexpected(declared.error());
    // A name service that is slow, and a kernel that is, are not to keep the network waiting.
    if (!mayConnect(*declared, peer))
        return std::unexpected(FunctionControl::Refused{
            Error{fmt::format("user {} may not be the network function '{}'", peer.user, name),
                  {},
                  "see 'users' and 'groups' in its declaration"},
            true});
    const auto plan = locked([&] { return functions_.plan(*declared, caller); });
    if (!plan)
        return std::unexpected(plan.error());
    auto parts = makeParts(*plan);
    if (!parts)
        return std::unexpected(
            FunctionControl::Refused{parts.error(), parts.error().code == ExitCode::usage});
    return locked([&] { return functions_.connect(*plan, std::move(*parts), std::move(caller)); });
}

void FunctionRequests::disconnected(std::uint64_t connection) {
    const std::lock_guard lock{mutex_};
    functions_.disconnected(connection);
}

} // namespace tna::daemon
