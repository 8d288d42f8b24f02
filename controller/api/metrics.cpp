// SPDX-License-Identifier: Apache-2.0
#include "api/metrics.hpp"

#include <fmt/format.h>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace tna::api {

namespace {
using nlohmann::json;
using Labels = std::initializer_list<std::pair<const char*, std::string>>;

/// Names of interfaces may have anything in them.
std::string escaped(const std::string& value) {
    std::string text;
    for (const char c : value) {
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        const auto code = static_cast<unsigned char>(c);
        if (code < ' ' || code == 0x7f) {
            fmt::format_to(std::back_inserter(text), "\\\\x{:02x}",
                           code); // read as \x1b, and obeyed by nobody
            continue;
        }
        if (c == '\\' || c == '"')
            text += '\\';
        text += c;
    }
    return text;
}

class Page {
public:
    /// The samples of a metric stand together, below its description.
    void metric(const char* name, const char* type, const char* help) {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    }
    template <typename Number>
    void sample(Labels labels, Number value) {
        text_ += name_;
        const char* separator = "{";
        for (const auto& [label, content] : labels) {
            fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", separator, label, escaped(content));
            separator = ",";
        }
        fmt::format_to(std::back_inserter(text_), "{} {}\n", labels.size() == 0 ? "" : "}", value);
    }
    std::string text() && { return std::move(text_); }

private:
    const char* name_ = "";
    std::string text_;
};

/// Port by port, a direction each.
void directions(Page& page, const json& ports, const char* in, const char* out) {
    for (const auto& port : ports) {
        page.sample({{"port", port["name"]}, {"direction", "in"}}, port[in].get<std::uint64_t>());
        page.sample({{"port", port["name"]}, {"direction", "out"}}, port[out].get<std::uint64_t>());
    }
}

void portMetrics(Page& page, const json& ports) {
    page.metric("tna_port_state", "gauge", "The state that the port is in: 1, others 0.");
    for (const auto& port : ports)
        for (const char* state : {"accelerated", "paused", "linux", "failed"})
            page.sample({{"port", port["name"]}, {"state", state}}, port["state"] == state ? 1 : 0);
    page.metric("tna_port_fast_packets_total", "counter", "Packets that took the fast path.");
    directions(page, ports, "fast_packets", "fast_out_packets");
    page.metric("tna_port_fast_bytes_total", "counter", "Bytes that took the fast path.");
    directions(page, ports, "fast_bytes", "fast_out_bytes");
    page.metric("tna_port_slow_packets_total", "counter",
                "Packets that came in by the port and were left to Linux, by reason.");
    for (const auto& port : ports)
        for (const auto& [reason, packets] : port["slow_reasons"].items())
            page.sample({{"port", port["name"]}, {"reason", reason}}, packets.get<std::uint64_t>());
}

void functionMetrics(Page& page, const json& functions) {
    page.metric("tna_function_state", "gauge", "The state that the network function is in: 1, others 0.");
    for (const auto& function : functions)
        for (const char* state : {"connected", "full", "nobody", "no-port", "bypassed"})
            page.sample({{"function", function["name"]}, {"state", state}},
                        function["state"] == state ? 1 : 0);
    page.metric("tna_function_packets_total", "counter",
                "Packets that matched the function's rules: those that it got, and those that it did not.");
    for (const auto& function : functions)
        for (const char* fate : {"function", "otherwise"})
            page.sample({{"function", function["name"]}, {"to", fate}},
                        function[std::string(fate) == "function" ? "packets" : fate].get<std::uint64_t>());
    page.metric("tna_function_bytes_total", "counter", "Bytes that the function got.");
    for (const auto& function : functions)
        page.sample({{"function", function["name"]}}, function["bytes"].get<std::uint64_t>());
}
} // namespace

std::string metrics(const json& status) {
    const auto& events = status["events"];
    Page page;
    page.metric("tna_info", "gauge", "Version, and how the forwarding database is read.");
    page.sample({{"version", status["version"]}, {"fdb", status["fdb"]}}, 1);
    page.metric("tna_uptime_seconds", "gauge", "Since tnad started.");
    page.sample({}, status["uptime_s"].get<double>());
    page.metric("tna_profile_swaps_total", "counter", "Profiles put in place or taken away.");
    page.sample({}, events["swaps"].get<std::uint64_t>());
    page.metric("tna_last_profile_swap_seconds", "gauge",
                "What the last swap took, from the kernel's announcement to the program in place.");
    page.sample({}, static_cast<double>(events["last_swap_us"].get<std::int64_t>()) / 1e6);
    page.metric("tna_failures_total", "counter", "Profiles that could not be put in place.");
    page.sample({}, events["failures"].get<std::uint64_t>());
    page.metric("tna_self_checks_failed_total", "counter",
                "How often the fast path has disagreed with the kernel and paused a module.");
    page.sample({}, events.value("self_checks_failed", std::uint64_t{0}));
    page.metric("tna_fdb_readings_total", "counter",
                "How often the mirror of the forwarding databases was read whole.");
    page.sample({}, events["fdb_readings"].get<std::uint64_t>());
    portMetrics(page, status["ports"]);
    if (const auto functions = status.value("functions", json::array()); !functions.empty())
        functionMetrics(page, functions);
    return std::move(page).text();
}

} // namespace tna::api
