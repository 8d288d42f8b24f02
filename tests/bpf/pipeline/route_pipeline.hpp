// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "beside_ports.hpp"
#include "capability/kernel.hpp"
#include "closer_looks.hpp"
#include "route_fixture.hpp"
#include "support/program.hpp"

#include <linux/if_ether.h>
#include <net/if.h>

namespace tna::test {

inline bool brNetfilter() {
    const auto kernel = capability::probeKernel();
    return kernel && kernel->brNetfilter;
}

/// A router whose program for a port is run by hand.
template <typename Router>
class RoutePipeline : public Accelerated<Router> {
protected:
    void SetUp() override {
        Accelerated<Router>::SetUp(); // the kernel runs a program for a port only if the port has XDP
        if (!this->IsSkipped())
            load();
    }
    [[nodiscard]] virtual assemble::Profile profile() const { return {.modules = {assemble::routeModule()}}; }
    [[nodiscard]] virtual const char* port() const { return "p0"; }
    void load(unsigned shortest = 0) {
        auto loaded = loadBesidePorts(shortest);
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        const auto program = fastPath_->program(profile());
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
    }
    /// What becomes of a frame that comes in by the port.
    [[nodiscard]] std::pair<int, Frame> ran(const Frame& frame) const {
        return runProgram(program_, frame, ::if_nametoindex(port()));
    }
    void expectRouted(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_REDIRECT}, Router::routed(frame))) << what;
    }
    void expectUntouched(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_PASS}, frame)) << what;
    }
    /// Of packets with so many bytes of headers, where the egress port takes no short ones by redirect.
    void expectShortLeftToLinux(std::size_t headers) {
        constexpr std::size_t shortest = 90;
        load(shortest);
        for (int again = 0; again < 2; again++)
            for (std::size_t size = shortest - 2; size <= shortest + 2; size++) {
                const auto packet = Router::packet({.payload = size - headers});
                if (size < shortest)
                    expectUntouched(packet, std::to_string(size));
                else
                    expectRouted(packet, std::to_string(size));
            }
    }
    void expectCloserLooks(const Frame& frame, std::vector<CloserLook> changes = closerLooks()) {
        // Once more what comes first, when the links' coming up no longer makes the kernel move generations.
        changes.push_back(changes.front());
        for (const auto& change : changes) {
            expectRouted(frame, "before " + change.there.front());
            expectRouted(frame, "once more, from the cache");
            for (const auto& words : change.there)
                must(words);
            expectUntouched(frame, change.there.back());
            must(change.back);
        }
        expectRouted(frame, "before a capture");
        const auto socket = Router::capture(nullptr, ETH_P_ALL);
        expectUntouched(frame, "a capture");
    }

    std::unique_ptr<deploy::FastPath> fastPath_;
    int program_ = -1;
};

} // namespace tna::test
