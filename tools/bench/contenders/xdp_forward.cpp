// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/external.hpp"
#include "bench/contenders/make.hpp"

namespace tna::bench {

namespace {
/// Routes by the kernel's table (bpf_fib_lookup); what it does not know goes to Linux.
class XdpForward : public External {
public:
    XdpForward() : External({"xdp-forward"}, "part of xdp-tools 1.5 or newer") {}

    void stop() override {
        if (loaded_) [[maybe_unused]]
            const auto unloaded = runCommand("xdp-forward unload d0 d1");
        loaded_ = false;
        External::stop();
    }

private:
    Result<void> begin(Traffic&) override {
        auto loaded = runCommand("xdp-forward load d0 d1");
        loaded_ = loaded.has_value();
        return loaded;
    }

    bool loaded_ = false;
};
} // namespace

std::unique_ptr<Contender> makeXdpForward() {
    return std::make_unique<XdpForward>();
}

} // namespace tna::bench
