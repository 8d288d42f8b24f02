// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/own_namespace.hpp"

#include <vector>

namespace tna::bench {

/// A bridge br0 with ports p0, p1, ... in a namespace; their other ends are in another one.
class ManyPorts {
public:
    [[nodiscard]] static Result<ManyPorts> make(unsigned ports);
    [[nodiscard]] const NetNamespace& device() const { return device_.handle(); }
    [[nodiscard]] const std::vector<unsigned>& ifindexes() const { return ifindexes_; }

private:
    ManyPorts(OwnNamespace device, OwnNamespace far) : device_(std::move(device)), far_(std::move(far)) {}
    [[nodiscard]] Result<void> build(unsigned ports);
    OwnNamespace device_;
    OwnNamespace far_;
    std::vector<unsigned> ifindexes_;
};

} // namespace tna::bench
