// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/make.hpp"
#include "bench/testbed/rules.hpp"

namespace tna::bench {

namespace {
/// Linux's own shortcut past the rules, where the kernel has it.
class Flowtable : public Contender {
public:
    Result<void> start(Traffic&) override {
        auto loaded = loadRules("table inet tna_bench {\n"
                                "flowtable fast {\nhook ingress priority 0; devices = { d0, d1 };\n}\n}\n"
                                "insert rule inet tna_bench forward meta l4proto { tcp, udp } "
                                "ct state established flow add @fast\n");
        if (!loaded)
            return std::unexpected(
                Error{"this kernel has no flowtables (CONFIG_NF_FLOW_TABLE)", loaded.error().sentence(), {}});
        return loaded;
    }
    void stop() override {}
    bool optional() const override { return true; }
};
} // namespace

std::unique_ptr<Contender> makeFlowtable() {
    return std::make_unique<Flowtable>();
}

} // namespace tna::bench
