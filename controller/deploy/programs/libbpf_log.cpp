// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/libbpf_log.hpp"

#include <array>
#include <bpf/libbpf.h>
#include <cstdarg>
#include <cstdio>
#include <spdlog/spdlog.h>
#include <string_view>

namespace tna::deploy {

namespace {
__attribute__((format(printf, 2, 0))) int forward(libbpf_print_level level, const char* format,
                                                  va_list args) {
    if (level == LIBBPF_DEBUG)
        return 0;
    std::array<char, 2048> line{};
    const int length = std::vsnprintf(line.data(), line.size(), format, args);
    std::string_view text{line.data()};
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    spdlog::debug("{}", text);
    return length;
}
} // namespace

void captureLibbpfMessages() {
    libbpf_set_print(forward);
}

} // namespace tna::deploy
