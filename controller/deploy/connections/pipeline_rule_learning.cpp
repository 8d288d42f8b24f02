// SPDX-License-Identifier: Apache-2.0
#include "deploy/connections/pipeline_rule_learning.hpp"

#include "deploy/connections/bridge_learner.hpp"
#include "deploy/connections/learner.hpp"

namespace tna::deploy {

Result<std::unique_ptr<ConnectionLearner>> PipelineRuleLearning::ofConnections() const {
    return Learner::attach(pipeline_, casts_, facts_.net, refresh_);
}

Result<std::unique_ptr<BridgeRuleLearner>> PipelineRuleLearning::ofBridges() const {
    return BridgeLearner::attach(pipeline_, casts_, facts_.net, facts_.brNetfilter);
}

Result<std::unique_ptr<ConnectionLearner>> NoRuleLearning::ofConnections() const {
    return fail("connections are not learnt where the kernel is not read in place");
}

Result<std::unique_ptr<BridgeRuleLearner>> NoRuleLearning::ofBridges() const {
    return fail("what rules of bridges let pass is not learnt where the kernel is not read in place");
}

} // namespace tna::deploy
