// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

#include <memory>
#include <ostream>
#include <string>
#include <tna/br_fdb_lookup.h>

struct fdb_lookup;

namespace tna::test {

/// What a kfunc of kernel-patches/ tells about a frame.
struct Answer {
    int ret = 0; ///< enum bpf_br_fdb_ret, or an errno below 0
    std::string device;
    std::uint16_t vlan = 0;
    std::uint16_t tpid = 0;
    std::uint8_t tag = BPF_BR_FDB_TAG_KEEP;
    bool operator==(const Answer&) const = default;
};
void PrintTo(const Answer& answer, std::ostream* out);

/// The bridge of BridgeTest without tna, and the kfuncs to ask about it. Skipped on kernels without them.
class LookupTest : public BridgeTest {
protected:
    LookupTest();
    ~LookupTest() override;
    void SetUp() override;

    /// What the kfunc for XDP says; the one for tc has to say the same.
    Answer ask(const Frame& frame, unsigned port = 0, std::uint32_t flags = BPF_BR_FDB_LOOKUP_PEEK);
    /// Asks, and sends the frame through plain Linux, which has to do what was told. Returns what was told.
    int agreed(const Frame& frame, unsigned port = 0);
    /// The same bytes and device for the caller to fill in, as they are.
    Answer askAs(const bpf_br_fdb_lookup& question, const std::string& device);
    void makeReady(const std::string& device) const;
    static bpf_br_fdb_lookup describe(const Frame& frame, std::uint32_t flags);

private:
    [[nodiscard]] Answer run(int program, const bpf_br_fdb_lookup& question, void* context,
                             std::uint32_t size) const;

    struct Close {
        void operator()(fdb_lookup* skeleton) const;
    };
    std::unique_ptr<fdb_lookup, Close> skeleton_;
};

} // namespace tna::test
