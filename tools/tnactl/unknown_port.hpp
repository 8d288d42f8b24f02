// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tnactl/client.hpp"

#include <nlohmann/json.hpp>

namespace tna::ctl {

/// The error, with the ports that there are if it is that `port` is none.
[[nodiscard]] Error namePorts(const Client& client, const std::string& port, Error error);

/// The same of an answer.
[[nodiscard]] Result<nlohmann::json> nameThePorts(const Client& client, const std::string& port,
                                                  Result<nlohmann::json> answer);

/// "did you mean 'eth0'? the ports are eth0, eth1, ..."
[[nodiscard]] std::string portsHint(const std::string& port, const std::vector<std::string>& ports);

} // namespace tna::ctl
