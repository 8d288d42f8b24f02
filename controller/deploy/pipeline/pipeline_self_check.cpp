// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/pipeline_self_check.hpp"

#include "assemble/manifest.hpp"
#include "deploy/results/port_counters.hpp"
#include "model/mac.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <tna/fastpath.h>

namespace tna::deploy {

namespace {
std::string textOf(const tna_disagreement& found, const __u64* address) {
    if (found.family == 0) {
        model::MacAddress mac;
        std::memcpy(mac.bytes.data(), address, mac.bytes.size());
        return mac.text();
    }
    char text[INET6_ADDRSTRLEN] = {};
    return ::inet_ntop(static_cast<int>(found.family), address, text, sizeof(text)) != nullptr ? text : "";
}

/// Of modules as the self-check calls them.
std::vector<std::string> namesOf(unsigned checked) {
    std::vector<std::string> names;
    for (const auto& manifest : assemble::manifests())
        if ((checked & manifest.checked) != 0)
            names.emplace_back(manifest.name);
    return names;
}

Disagreement::Answer answerOf(const tna_disagreement& found, const tna_answer& answer) {
    return {answer.ifindex, found.family == 0 || answer.ifindex == 0 ? "" : textOf(found, answer.gateway)};
}
} // namespace

std::optional<Disagreement> PipelineSelfCheck::disagreement() const {
    const auto& found = pipeline_.home->disagreement;
    if (__atomic_load_n(&pipeline_.home->paused, __ATOMIC_SEQ_CST) == 0 || found.module == 0)
        return std::nullopt;
    const auto checked = namesOf(found.module);
    return Disagreement{checked.empty() ? "" : checked.front(),
                        found.arrival,
                        textOf(found, found.from),
                        textOf(found, found.to),
                        answerOf(found, found.ours),
                        answerOf(found, found.kernel),
                        found.reason < TNA_REASON_COUNT ? reasonCode(found.reason) : ""};
}

std::vector<std::string> PipelineSelfCheck::mistrusted() const {
    const auto paused = __atomic_load_n(&pipeline_.home->paused, __ATOMIC_SEQ_CST);
    return namesOf(paused);
}

void PipelineSelfCheck::trust() const {
    pipeline_.home->suspicion = {};
    __atomic_store_n(&pipeline_.home->paused, 0U, __ATOMIC_SEQ_CST);
    pipeline_.forgetFlows();
}

Mistrust PipelineSelfCheck::mistrust() const {
    return {__atomic_load_n(&pipeline_.home->paused, __ATOMIC_SEQ_CST), pipeline_.home->disagreement};
}

void PipelineSelfCheck::mistrustAs(const Mistrust& other) const {
    pipeline_.home->disagreement = other.found;
    __atomic_store_n(&pipeline_.home->paused, other.modules, __ATOMIC_SEQ_CST);
    pipeline_.forgetFlows();
}

} // namespace tna::deploy
