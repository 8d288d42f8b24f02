// SPDX-License-Identifier: Apache-2.0
#include "support/program.hpp"

#include <bpf/bpf.h>
#include <cstring>
#include <gtest/gtest.h>

namespace tna::test {

namespace {
constexpr std::size_t room = 64; ///< for a frame that grows
} // namespace

std::pair<int, Frame> runProgram(int program, const Frame& frame, unsigned ifindex) {
    Frame done{std::vector<std::uint8_t>(frame.bytes.size() + room)};
    xdp_md context{};
    context.data_end = static_cast<__u32>(frame.bytes.size());
    context.ingress_ifindex = ifindex;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes.data(), .data_out = done.bytes.data(),
                .data_size_in = static_cast<__u32>(frame.bytes.size()),
                .data_size_out = static_cast<__u32>(done.bytes.size()), .ctx_in = &context,
                .ctx_size_in = sizeof(context), .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(program, &options); error != 0)
        ADD_FAILURE() << "cannot run " << frame.bytes.size() << " bytes: " << std::strerror(-error);
    done.bytes.resize(options.data_size_out);
    return {static_cast<int>(options.retval), done};
}

} // namespace tna::test
