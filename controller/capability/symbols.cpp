// SPDX-License-Identifier: Apache-2.0
#include "capability/symbols.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tna::capability {

Result<std::map<std::uint64_t, std::string>> symbolsAt(const std::set<std::uint64_t>& addresses) {
    const auto text = readFile("/proc/kallsyms");
    if (!text)
        return std::unexpected(text.error());
    std::map<std::uint64_t, std::string> found;
    std::string_view rest = *text;
    while (!rest.empty()) {
        // "ffffffff82158ea0 t name\n", of modules "...\t[module]\n"
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        std::uint64_t address = 0;
        const auto parsed = std::from_chars(line.data(), line.data() + line.size(), address, 16);
        const auto name = line.substr(std::min<std::size_t>(line.size(), parsed.ptr - line.data() + 3));
        if (parsed.ec == std::errc{} && address != 0 && addresses.contains(address))
            found.try_emplace(address, name.substr(0, name.find('\t')));
    }
    return found;
}

} // namespace tna::capability
