// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::test {

/// Rules of the shapes that kube-proxy loads, for so many services of UDP with so many endpoints each.
class KubeRules {
public:
    enum class Mode { nftables, iptables };
    KubeRules(Mode mode, unsigned services, unsigned endpoints)
        : mode_(mode), services_(services), endpoints_(endpoints) {}

    static constexpr unsigned servicePort = 53, endpointPort = 5000;
    [[nodiscard]] static std::string addressOf(unsigned service);
    /// Services share them, as workloads share machines.
    [[nodiscard]] static std::string endpoint(unsigned number) {
        return "10.0.1." + std::to_string(10 + number);
    }

    /// For `nft -f`, or for iptables-nft-restore.
    [[nodiscard]] std::string all() const;
    /// The same, to load besides: a service that has no endpoints but these, which it had before.
    [[nodiscard]] std::string change(unsigned service, const std::vector<unsigned>& endpoints) const;
    /// What loads that, with the name of a file behind it.
    [[nodiscard]] std::vector<std::string> loader(bool besides) const;

private:
    [[nodiscard]] std::vector<unsigned> every() const;
    [[nodiscard]] std::string nftables() const;
    [[nodiscard]] std::string iptables() const;

    Mode mode_;
    unsigned services_;
    unsigned endpoints_;
};

} // namespace tna::test
