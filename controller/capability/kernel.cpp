// SPDX-License-Identifier: Apache-2.0
#include "capability/kernel.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <charconv>
#include <optional>
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

/// The address of a function in /proc/kallsyms ("ffffffff82158ea0 t name\n"), 0 if it is not shown; nothing
/// if there is no such function.
std::optional<std::uint64_t> listed(std::string_view symbols, std::string_view name) {
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
    return std::nullopt;
}

std::uint64_t symbol(std::string_view symbols, std::string_view name) {
    return listed(symbols, name).value_or(0);
}

/// What of it is in modules can come later: then this is asked again.
Finding flowtables(std::string_view symbols) {
    const auto function = listed(symbols, "nf_flow_offload_ip_hook");
    if (!function)
        return {false, "not loaded: there are no flowtables"};
    if (*function == 0)
        return {false, "the kernel does not show the addresses of its functions (kernel.kptr_restrict)"};
    if (symbol(symbols, "bpf_xdp_flow_lookup") == 0)
        return {false, "there is no bpf_xdp_flow_lookup(): Linux 6.11 or newer has it"};
    return {true, "the kernel is asked for each packet, by bpf_xdp_flow_lookup()"};
}
} // namespace

void readSymbols(Capabilities& found, const std::optional<std::string>& symbols) {
    if (!symbols || symbols->empty()) { // all of it may be there
        found.ebtables = true;
        found.mrp = true;
        found.brNetfilterHidden = true;
        found.flowtable = {false, "the kernel does not list its functions"};
        return;
    }
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
    found.mrp = symbols->find(" br_mrp_process") != std::string::npos;
    found.brNetfilter = found.hookFunctions[0] != 0;
    found.brNetfilterHidden = listed(*symbols, "br_nf_pre_routing") == 0U;
}

Result<Capabilities> probeKernel() {
    Capabilities found;
    utsname name{};
    if (::uname(&name) == 0)
        found.kernelRelease = name.release;
    found.lockdown = lockdownMode();
    const auto symbols = readFile("/proc/kallsyms");
    if (!symbols && symbols.error().number != ENOENT)
        return std::unexpected(symbols.error());
    readSymbols(found, symbols ? std::optional{*symbols} : std::nullopt);
    return found;
}

} // namespace tna::capability
