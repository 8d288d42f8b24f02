// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/scenario.hpp"

namespace tna::diff {

/// A configuration of one of the usual kinds, which changes as it does, with something more.
class Extension : public Scenario {
public:
    std::vector<std::string> setup() override;
    std::string restoration() override { return base_->restoration(); }
    Topology& topology() override { return base_->topology(); }

protected:
    Extension(Chance& chance, std::unique_ptr<Scenario> base) : Scenario(chance), base_(std::move(base)) {}
    /// Commands after those of the usual kind.
    virtual std::vector<std::string> more() { return {}; }
    [[nodiscard]] Scenario& base() { return *base_; }
    virtual std::vector<Step> ownChange() = 0;
    std::vector<Step> newChange() final;
    /// One change in so many is of the usual kind.
    [[nodiscard]] virtual unsigned usualChange() const { return 4; }
    /// Lines for "ip -batch", as one command; what the kernel refuses is left out.
    [[nodiscard]] static std::string batch(bool six, const std::vector<std::string>& lines);
    /// A host that packets can be sent on to, by its address.
    [[nodiscard]] std::string way(bool six);
    [[nodiscard]] std::string device();

private:
    std::unique_ptr<Scenario> base_;
};

/// Routers, of links or of bridges.
[[nodiscard]] std::unique_ptr<Scenario> anyRouter(Chance& chance);
/// These, or a bridge.
[[nodiscard]] std::unique_ptr<Scenario> anyUsual(Chance& chance);

} // namespace tna::diff
