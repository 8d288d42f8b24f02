// SPDX-License-Identifier: Apache-2.0
// What the fast path finds out about itself: told as loud as can be, for it means an error in it.
#include "base/log_fields.hpp"
#include "daemon/controller.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

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

json documentOf(const model::Network& network, const deploy::Disagreement& found) {
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
} // namespace

bool Controller::followSelfCheck() {
    auto now = loaded_.fastPath->mistrusted();
    if (now == mistrusted_)
        return false;
    const bool more = now.size() > mistrusted_.size();
    mistrusted_ = std::move(now);
    const auto found = loaded_.fastPath->disagreement();
    if (!more || !found)
        return true;
    events_.selfChecksFailed++;
    const auto& network = introspector_->network();
    const LogFields about{{"TNA_MODULE", found->module}, {"TNA_REASON", "self-check"}};
    spdlog::error(
        "the fast path does not agree with the kernel about a packet from {} to {} that came in by {}: "
        "it would send it {}, Linux sends it {}{}; all of '{}' is left to Linux until `tnactl resume` "
        "or a restart. Please report this: it is an error in tna",
        found->from, found->to, nameOf(network, found->arrival), wayOf(network, found->ours),
        wayOf(network, found->kernel), found->reason.empty() ? "" : " (" + found->reason + ")",
        found->module);
    auto event = documentOf(network, *found);
    event["event"] = "self-check";
    followers_.tell(event);
    return true;
}

void Controller::trustAgain() {
    if (loaded_.fastPath->mistrusted().empty())
        return;
    loaded_.fastPath->trust();
    mistrusted_.clear();
}

json Controller::selfCheckDocument() const {
    const auto found = loaded_.fastPath->disagreement();
    return {{"one_in", watched() ? 0 : config_.kernel.selfCheck},
            {"paused", loaded_.fastPath->mistrusted()},
            {"found", found ? documentOf(introspector_->network(), *found) : json()}};
}

} // namespace tna::daemon
