// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/under_test.hpp"

namespace tna::bench {

namespace {
class Here : public UnderTest {
public:
    Here(Tenancy tenancy, DropEnds ends) : tenancy_(std::move(tenancy)), ends_(std::move(ends)) {}
    std::string whyNoTenants(Burden burden) const override {
        return bench::whyNoTenants(burden, tenancy_.vm);
    }
    Result<std::unique_ptr<Company>> startTenants(Burden burden, unsigned count, double seconds) override {
        return Tenants::start(burden, count, tenancy_.disk, seconds, tenancy_.vm);
    }
    Result<std::unique_ptr<Subject>> makeDropper(const std::string& name, unsigned times) override {
        auto place = DropPlace::make(times, ends_);
        if (!place)
            return std::unexpected(place.error());
        const std::shared_ptr<DropPlace> shared = std::move(*place);
        auto dropping = makeDropping(name, times, shared, tenancy_.pmd);
        if (!dropping)
            return std::unexpected(dropping.error());
        return bench::makeDropper(shared, std::move(*dropping));
    }

private:
    Tenancy tenancy_;
    DropEnds ends_;
};
} // namespace

std::unique_ptr<UnderTest> makeHere(const Tenancy& tenancy, const Cabling& cabling) {
    return std::make_unique<Here>(tenancy, DropEnds{cabling.tx, cabling.rx});
}

} // namespace tna::bench
