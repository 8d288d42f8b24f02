// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/flow_map.hpp"

#include "bench/bpf/work_shared.h"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <vector>

namespace tna::bench {

namespace {
constexpr unsigned perBatch = 65536;
} // namespace

Result<void> fillFlows(int map, workload::Flow (*flowOf)(std::uint32_t), unsigned count) {
    std::vector<work_flow> keys;
    std::vector<work_backend> values;
    for (unsigned first = 0; first < count; first += perBatch) {
        keys.clear();
        values.clear();
        for (unsigned i = first; i < std::min(count, first + perBatch); i++) {
            const auto flow = flowOf(i);
            const auto backend = workload::backendOf(flow);
            keys.push_back({flow.from, flow.to, flow.fromPort, flow.toPort, flow.protocol});
            values.push_back({backend.address, backend.port, 0});
        }
        auto many = static_cast<__u32>(keys.size());
        LIBBPF_OPTS(bpf_map_batch_opts, options);
        if (bpf_map_update_batch(map, keys.data(), values.data(), &many, &options) != 0)
            return failErrno(errno, "cannot fill a table of {} connections", count);
    }
    return {};
}

} // namespace tna::bench
