// SPDX-License-Identifier: Apache-2.0
#include "capability/kernel.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <charconv>
#include <string_view>
#include <sys/utsname.h>

namespace tna::capability {

namespace {
/// "none [integrity] confidentiality" -> "integrity"
std::string lockdownMode() {
    const auto text = readFile("/sys/kernel/security/lockdown");
    if (!text)
        return "unknown";
    const auto open = text->find('[');
    const auto close = text->find(']');
    return open == std::string::npos || close == std::string::npos ? "unknown"
                                                                   : text->substr(open + 1, close - open - 1);
}

/// The address of a function in /proc/kallsyms ("ffffffff82158ea0 t name\n"), 0 if it is not shown.
std::uint64_t symbol(std::string_view symbols, std::string_view name) {
    for (std::size_t at = symbols.find(name); at != std::string_view::npos; at = symbols.find(name, at + 1)) {
        const auto end = at + name.size();
        const bool whole = at > 0 && symbols[at - 1] == ' ' &&
                           (end == symbols.size() || symbols[end] == '\n' || symbols[end] == '\t');
        if (!whole)
            continue;
        const auto line = symbols.rfind('\n', at);
        const auto start = line == std::string_view::npos ? 0 : line + 1;
        std::uint64_t address = 0;
        std::from_chars(symbols.data() + start, symbols.data() + at, address, 16);
        return address;
    }
    return 0;
}

/// What of it is in modules can come later: then this is asked again.
Finding flowtables(std::string_view symbols) {
    if (symbol(symbols, "nf_flow_offload_ip_hook") == 0)
        return {false, "not loaded: there are no flowtables"};
    if (symbol(symbols, "bpf_xdp_flow_lookup") == 0)
        return {false, "there is no bpf_xdp_flow_lookup(): Linux 6.11 or newer has it"};
    return {true, "the kernel is asked for each packet, by bpf_xdp_flow_lookup()"};
}
} // namespace

Result<Capabilities> probeKernel() {
    Capabilities found;
    utsname name{};
    if (::uname(&name) == 0)
        found.kernelRelease = name.release;
    found.lockdown = lockdownMode();
    const auto symbols = readFile("/proc/kallsyms");
    if (!symbols && symbols.error().number != ENOENT)
        return std::unexpected(symbols.error());
    found.ebtables = !symbols; // the kernel shows none: it may be there
    if (symbols) {
        found.hookFunctions = {symbol(*symbols, "br_nf_pre_routing"),
                               symbol(*symbols, "br_nf_forward"),
                               symbol(*symbols, "br_nf_post_routing"),
                               symbol(*symbols, "apparmor_ip_postroute"),
                               symbol(*symbols, "br_nf_local_in"),
                               symbol(*symbols, "ip_sabotage_in"),
                               symbol(*symbols, "nf_flow_offload_inet_hook"),
                               symbol(*symbols, "nf_flow_offload_ip_hook"),
                               symbol(*symbols, "nf_flow_offload_ipv6_hook")};
        found.flowtable = flowtables(*symbols);
        // A module: its name follows the function's.
        found.ebtables = symbols->find(" ebt_do_table") != std::string::npos;
        found.brNetfilter = found.hookFunctions[0] != 0;
    }
    return found;
}

} // namespace tna::capability
