// SPDX-License-Identifier: Apache-2.0
// The pipeline is the same source for each hook (fpm/packet/hook.bpf.h).
#include "support/namespace.hpp"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <memory>
#include <tna/fastpath.h>

#include "pipeline.skel.h"
#include "pipeline_tcx.skel.h"

namespace tna::test {
namespace {

template <typename Skeleton>
using Opened = std::unique_ptr<Skeleton, void (*)(Skeleton*)>;

TEST(Hooks, PipelineForEachHookHasItsProgramType) {
    const Opened<::pipeline> xdp(::pipeline::open(), ::pipeline::destroy);
    const Opened<::pipeline_tcx> tcx(::pipeline_tcx::open(), ::pipeline_tcx::destroy);

    ASSERT_TRUE(xdp);
    ASSERT_TRUE(tcx);
    EXPECT_EQ(bpf_program__type(xdp->progs.pipeline), BPF_PROG_TYPE_XDP);
    EXPECT_EQ(bpf_program__type(tcx->progs.pipeline), BPF_PROG_TYPE_SCHED_CLS);
}

/// As libbpf loads it, without a profile's constants.
TEST(Hooks, VerifierTakesThePipelineForTcxWhereItTakesTheOneForXdp) {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const auto warnings = libbpf_set_print(nullptr);
    const Opened<::pipeline> xdp(::pipeline::open_and_load(), ::pipeline::destroy);
    if (!xdp)
        GTEST_SKIP() << "this kernel needs another object than the one that is tried here";
    libbpf_set_print(warnings);

    EXPECT_TRUE(Opened<::pipeline_tcx>(::pipeline_tcx::open_and_load(), ::pipeline_tcx::destroy));
}

} // namespace
} // namespace tna::test
