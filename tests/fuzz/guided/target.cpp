// SPDX-License-Identifier: Apache-2.0
// What all targets of libFuzzer have in common.
#include "fuzz/guided/target.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace tna::fuzz {

void require(bool holds, const std::string& what) {
    if (holds)
        return;
    std::fprintf(stderr, "wrong: %s\n", what.c_str());
    std::abort();
}

} // namespace tna::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    constexpr std::string_view option = "--seeds=";
    if (*argc > 1 && std::string_view((*argv)[1]).starts_with(option)) {
        const std::string folder((*argv)[1] + option.size());
        unsigned number = 0;
        for (const auto& seed : tna::fuzz::seeds())
            std::ofstream(folder + "/seed" + std::to_string(number++), std::ios::binary) << seed;
        std::exit(0);
    }
    tna::fuzz::prepare();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tna::fuzz::run(data, size);
    return 0;
}
