// SPDX-License-Identifier: Apache-2.0
// The object for kernels before 6.17 is taken by newer ones, too: what it must not do is noticed without
// them.
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/programs/libbpf_log.hpp"
#include "support/namespace.hpp"
#include "support/starting.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

TEST(Casts, PipelineForOlderKernelsIsTakenByThisOne) {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    deploy::captureLibbpfMessages();
    const auto probe = deploy::KernelProbe::load();
    TNA_EXPECT_STARTED(probe);
    const auto pipeline = deploy::PipelineObject::load(deploy::Casts::typed, 4, 1);
    EXPECT_TRUE(pipeline) << pipeline.error().sentence();
}

} // namespace
} // namespace tna::test
