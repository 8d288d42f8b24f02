// SPDX-License-Identifier: Apache-2.0
#include "bench/results/document.hpp"

#include "base/file.hpp"
#include "bench/results/statistics.hpp"
#include "bench/testbed/hardware.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <thread>

namespace tna::bench {

nlohmann::json sizeDocument(unsigned size) {
    return size == imix ? nlohmann::json("imix") : nlohmann::json(size);
}

nlohmann::json summaryDocument(const std::vector<double>& values) {
    if (values.empty())
        return nullptr;
    const auto summary = summarise(values);
    return {{"median", summary.median},
            {"min", summary.least},
            {"max", summary.most},
            {"quartiles", {summary.lowerQuartile, summary.upperQuartile}}};
}

std::string spreadText(const std::vector<double>& values) {
    if (values.empty())
        return "-";
    const auto summary = summarise(values);
    return fmt::format("{:.2f} ({:.2f}-{:.2f})", summary.median, summary.lowerQuartile,
                       summary.upperQuartile);
}

nlohmann::json textOrNull(const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

nlohmann::json setupDocument(const Setup& setup) {
    return {{"scenario", nameOf(setup.scenario)},
            {"routes", setup.routes},
            {"frame_size", sizeDocument(setup.frameSize)},
            {"vlan", setup.vlan},
            {"vlan_filtering", setup.vlanFiltering},
            {"protocol", setup.protocol == Protocol::tcp ? "tcp" : "udp"},
            {"reverse", setup.reverse},
            {"generator", nameOf(setup.generator)},
            {"rules", setup.rules},
            {"routing_rules", setup.routingRules},
            {"entries", setup.entries},
            {"tracking", nameOf(setup.tracking)},
            {"rule_changes", setup.ruleChanges},
            {"ports", setup.ports},
            {"tx", textOrNull(setup.cabling.tx)},
            {"rx", textOrNull(setup.cabling.rx)},
            {"dut", textOrNull(setup.cabling.dut)}};
}

std::string coresRemark() {
    return "cores: processors that it has for itself; those without work on the generator's, and throttle "
           "it: "
           "at full offer\nthe two kinds do not compare, at the same paced rate (latency, rfc2544) they do.\n"
           "TCP: whether a real connection works; \"tx off\": only where senders finish their frames "
           "themselves.\n";
}

namespace {
/// Of flaws of the processor, which cost time on each way into the kernel and each indirect call.
nlohmann::json mitigations() {
    nlohmann::json list = nlohmann::json::object();
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator("/sys/devices/system/cpu/vulnerabilities", none)) {
        auto text = readFile(entry.path().string()).value_or("");
        while (text.ends_with('\n'))
            text.pop_back();
        if (text != "Not affected")
            list[entry.path().filename().string()] = text;
    }
    return list;
}
} // namespace

nlohmann::json describeMachine() {
    utsname name{};
    ::uname(&name);
    std::string cpu = "unknown CPU";
    if (const auto text = readFile("/proc/cpuinfo"))
        if (const auto at = text->find("model name"); at != std::string::npos)
            cpu = text->substr(text->find(": ", at) + 2, text->find('\n', at) - text->find(": ", at) - 2);
    auto load = readFile("/proc/loadavg");
    if (load && load->ends_with('\n'))
        load->pop_back();
    return {{"kernel", name.release},
            {"cpu", cpu},
            {"cpus", std::thread::hardware_concurrency()},
            {"mitigations", mitigations()},
            {"counters", textOrNull(whyNoHardwareCounters())},
            {"load_before", load ? *load : ""}};
}

std::string machineLine(const nlohmann::json& machine) {
    const auto load = machine["load_before"].get<std::string>();
    return fmt::format("kernel {}, {} x {}, load {} before", machine["kernel"].get<std::string>(),
                       machine["cpus"].get<unsigned>(), machine["cpu"].get<std::string>(),
                       load.substr(0, load.find(' ')));
}

} // namespace tna::bench
