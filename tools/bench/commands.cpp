// SPDX-License-Identifier: Apache-2.0
#include "bench/commands.hpp"

#include "bench/tnad.hpp"

#include <bpf/libbpf.h>
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr int highestPriority = -20;
}

int complain(const std::string& sentence, ExitCode code) {
    fmt::print(stderr, "tna-bench: {}\n", sentence);
    return static_cast<int>(code);
}

int prepare(std::string& tnad) {
    if (::geteuid() != 0)
        return complain("makes network namespaces and loads programs: run it as root",
                        ExitCode::noPermission);
    auto found = findTnad(tnad);
    if (!found)
        return complain(found.error().sentence(), ExitCode::notSupported);
    tnad = *found;
    // Failures are told in the program's own words.
    libbpf_set_print(nullptr);
    return 0;
}

void takePriority() {
    ::setpriority(PRIO_PROCESS, 0, highestPriority);
}

void print(const nlohmann::json& document) {
    fmt::print("{}\n", document.dump(1));
}

} // namespace tna::bench
