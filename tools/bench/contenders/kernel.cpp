// SPDX-License-Identifier: Apache-2.0
// Contenders that need nothing but the kernel.
#include "bench/contenders/make.hpp"

namespace tna::bench {

namespace {
class Linux : public Contender {
public:
    explicit Linux(bool bridgeNetfilter) : bridgeNetfilter_(bridgeNetfilter) {}
    Result<void> start(Traffic&) override {
        return bridgeNetfilter_ ? setBridgeNetfilter(true) : Result<void>{};
    }
    void stop() override {
        if (bridgeNetfilter_) [[maybe_unused]]
            const auto set = setBridgeNetfilter(false);
    }
    bool optional() const override { return bridgeNetfilter_; }

private:
    bool bridgeNetfilter_;
};

class Ceiling : public Contender {
public:
    Result<void> start(Traffic& traffic) override {
        for (const auto& [program, device] :
             {std::pair{traffic.ceilingProgram(), "d0"}, std::pair{traffic.ceilingBackProgram(), "d1"}}) {
            auto link = attachXdp(program, device);
            if (!link)
                return std::unexpected(link.error());
            links_.push_back(std::move(*link));
        }
        return {};
    }
    void stop() override { links_.clear(); }
    bool forwards() const override { return false; }

private:
    std::vector<UniqueFd> links_;
};

/// No device under test: the sink takes its place.
class Direct : public Contender {
public:
    Result<void> start(Traffic& traffic) override {
        return traffic.sink().put(traffic.topology().device(), "d0");
    }
    void stop() override {}
    bool forwards() const override { return false; }
    bool connects() const override { return false; }
};
} // namespace

std::unique_ptr<Contender> makeLinux(bool bridgeNetfilter) {
    return std::make_unique<Linux>(bridgeNetfilter);
}

std::unique_ptr<Contender> makeCeiling() {
    return std::make_unique<Ceiling>();
}

std::unique_ptr<Contender> makeDirect() {
    return std::make_unique<Direct>();
}

} // namespace tna::bench
