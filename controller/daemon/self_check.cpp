// SPDX-License-Identifier: Apache-2.0
#include "daemon/self_check.hpp"

#include "daemon/reporter.hpp"

#include <nlohmann/json.hpp>

namespace tna::daemon {

namespace {
using nlohmann::json;

std::string nameOf(const model::Network& network, model::IfIndex ifindex) {
    const auto* link = network.link(ifindex);
    return link != nullptr ? link->name : fmt::format("the device with index {}", ifindex);
}

std::string wayOf(const model::Network& network, const deploy::Disagreement::Answer& answer) {
    if (answer.egress == 0)
        return "not at all";
    return fmt::format("by {}{}", nameOf(network, answer.egress),
                       answer.gateway.empty() ? "" : " to " + answer.gateway);
}

} // namespace

json disagreementDocument(const deploy::Disagreement& found, const model::Network& network) {
    const auto answer = [&](const deploy::Disagreement::Answer& one) {
        return one.egress == 0 ? json()
                               : json{{"device", nameOf(network, one.egress)},
                                      {"gateway", one.gateway.empty() ? json() : json(one.gateway)}};
    };
    return {{"module", found.module},
            {"port", nameOf(network, found.arrival)},
            {"from", found.from},
            {"to", found.to},
            {"fast_path", answer(found.ours)},
            {"kernel", answer(found.kernel)},
            {"reason", found.reason.empty() ? json() : json(found.reason)}};
}

std::string disagreementSentence(const deploy::Disagreement& found, const model::Network& network) {
    return fmt::format(
        "the fast path does not agree with the kernel about a packet from {} to {} that came in by {}: "
        "it would send it {}, Linux sends it {}{}; all of '{}' is left to Linux until `tnactl resume` "
        "or a restart. Please report this: it is an error in tna",
        found.from, found.to, nameOf(network, found.arrival), wayOf(network, found.ours),
        wayOf(network, found.kernel), found.reason.empty() ? "" : " (" + found.reason + ")", found.module);
}

bool SelfCheck::follow(const deploy::DataPath& dataPath, const model::Network& network, Reporter& reporter) {
    auto now = dataPath.selfCheck().mistrusted();
    if (now == mistrusted_)
        return false;
    const bool more = now.size() > mistrusted_.size();
    mistrusted_ = std::move(now);
    const auto found = dataPath.selfCheck().disagreement();
    if (more && found)
        reporter.selfCheckFailed(*found, network);
    return true;
}

void SelfCheck::trustAgain(const deploy::DataPath& dataPath) {
    if (dataPath.selfCheck().mistrusted().empty())
        return;
    dataPath.selfCheck().trust();
    mistrusted_.clear();
}

} // namespace tna::daemon
