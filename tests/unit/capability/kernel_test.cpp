// SPDX-License-Identifier: Apache-2.0
// What /proc/kallsyms tells, and what it does not.
#include "capability/kernel.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

capability::Capabilities read(const std::optional<std::string>& symbols) {
    capability::Capabilities found;
    capability::readSymbols(found, symbols);
    return found;
}

TEST(KernelSymbols, AreFoundByTheirWholeNames) {
    const auto found = read("ffffffff82177870 t br_nf_pre_routing_finish\n"
                            "ffffffff82177c20 t br_nf_pre_routing\t[br_netfilter]\n"
                            "ffffffff82177d00 t ebt_do_table\t[ebtables]\n"
                            "ffffffff82177e00 t br_mrp_process\t[bridge]\n");
    EXPECT_TRUE(found.brNetfilter);
    EXPECT_FALSE(found.brNetfilterHidden);
    EXPECT_EQ(found.hookFunctions[0], 0xffffffff82177c20U);
    EXPECT_TRUE(found.ebtables);
    EXPECT_TRUE(found.mrp);
}

TEST(KernelSymbols, WhatIsNotListedIsNotThere) {
    for (const char* first : {"ffffffff82177870", "0000000000000000"}) {
        const auto found = read(first + std::string(" t br_nf_pre_routing_finish\n"));
        EXPECT_FALSE(found.brNetfilter);
        EXPECT_FALSE(found.brNetfilterHidden);
        EXPECT_FALSE(found.ebtables);
        EXPECT_FALSE(found.mrp);
        EXPECT_EQ(found.flowtable.detail, "not loaded: there are no flowtables");
    }
}

TEST(KernelSymbols, WhatHasNoAddressMayBeThere) {
    const auto found =
        read("0000000000000000 t br_nf_pre_routing\n0000000000000000 t nf_flow_offload_ip_hook\n");
    EXPECT_FALSE(found.brNetfilter);
    EXPECT_TRUE(found.brNetfilterHidden);
    EXPECT_NE(found.flowtable.detail.find("kptr_restrict"), std::string::npos) << found.flowtable.detail;
}

TEST(KernelSymbols, WhereNoneAreListedAllMayBeThere) {
    for (const auto& none : {std::optional<std::string>{}, std::optional<std::string>{""}}) {
        const auto found = read(none);
        EXPECT_FALSE(found.brNetfilter);
        EXPECT_TRUE(found.brNetfilterHidden);
        EXPECT_TRUE(found.ebtables);
        EXPECT_TRUE(found.mrp);
    }
}

} // namespace
} // namespace tna::test
