// SPDX-License-Identifier: Apache-2.0
// Configuration files: taken as a whole, or refused with a line that there is.
#include "config/config.hpp"

#include "base/file.hpp"
#include "fuzz/guided/target.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tna::fuzz {

std::vector<std::string> seeds() {
    return {readFile(TNA_CONF).value_or(""), "[limits]\nmax_ports = 7\n",
            "[ports]\ninclude = ['a', \"b\\u0041\"]"};
}

void prepare() {}

void run(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string name = "tnad.conf";
    const auto config = config::parseConfig(text, name);
    if (config) {
        require(config->limits.maxPorts >= 2 && config->limits.maxPorts <= 65535,
                "max_ports out of its range");
        require(std::has_single_bit(config->limits.flowsPerCpu), "flows_per_cpu is no power of two");
        return;
    }
    const auto& what = config.error().what;
    require(what.starts_with(name + ":"), "no file in: " + what);
    const auto line = std::strtoul(what.c_str() + name.size() + 1, nullptr, 10);
    require(line >= 1 && line <= static_cast<std::size_t>(std::ranges::count(text, '\n')) + 2,
            "no such line: " + what);
}

} // namespace tna::fuzz
