// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/contender.hpp"

#include "bench/contenders/make.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/ranges.h>
#include <unistd.h>

namespace tna::bench {

namespace {
/// "tna@FILE" is the daemon in that file.
constexpr std::string_view otherDaemon = "tna@";

/// What a contender can be put in the place of.
enum class Place { any, bridge, router, polycube, firewall };

struct Kind {
    std::string_view name;
    Place place;
    bool usual;
    std::string_view help;
    std::unique_ptr<Contender> (*make)(const std::string& tnad, const Setup& setup);
};

constexpr std::array kinds{
    Kind{"linux", Place::any, true, "Linux alone, with br_netfilter's calls of the rule sets off",
         [](const std::string&, const Setup&) { return makeLinux(false); }},
    Kind{"linux+nf", Place::bridge, true, "with them on, the kernel's default",
         [](const std::string&, const Setup&) { return makeLinux(true); }},
    Kind{"tna", Place::any, true, "tnad beside it",
         [](const std::string& tnad, const Setup& setup) { return makeTna(tnad, "auto", setup); }},
    Kind{"tna-mirror", Place::bridge, false, "tnad with fdb = \"mirror\"",
         [](const std::string& tnad, const Setup& setup) { return makeTna(tnad, "mirror", setup); }},
    Kind{"tna-tcx", Place::any, false, "tnad with the ports at tcx, where frames are socket buffers",
         [](const std::string& tnad, const Setup& setup) { return makeTnaAtTcx(tnad, setup); }},
    Kind{"ceiling", Place::any, true, "a program that only redirects to a fixed port",
         [](const std::string&, const Setup&) { return makeCeiling(); }},
    Kind{"direct", Place::any, true, "the sink in the place of what is measured",
         [](const std::string&, const Setup&) { return makeDirect(); }},
    Kind{"flowtable", Place::firewall, false, "Linux with a flowtable, where the kernel has them",
         [](const std::string&, const Setup&) { return makeFlowtable(); }},
    Kind{"xdp-forward", Place::router, false, "that of xdp-tools 1.5 or newer",
         [](const std::string&, const Setup&) { return makeXdpForward(); }},
    Kind{"ovs", Place::bridge, false, "Open vSwitch in user space, by AF_XDP",
         [](const std::string&, const Setup&) { return makeOvs(FrameSocket::xdp); }},
    Kind{"ovs-packet", Place::bridge, false, "the same by packet sockets",
         [](const std::string&, const Setup&) { return makeOvs(FrameSocket::packet); }},
    Kind{"dpdk", Place::bridge, false, "DPDK's testpmd, which looks at nothing, by AF_XDP",
         [](const std::string&, const Setup&) { return makeDpdk(FrameSocket::xdp); }},
    Kind{"dpdk-packet", Place::bridge, false, "the same by packet sockets",
         [](const std::string&, const Setup&) { return makeDpdk(FrameSocket::packet); }},
    Kind{"polycube", Place::polycube, false,
         "polycubed's simplebridge, or its router, with its NAT for ports",
         [](const std::string&, const Setup& setup) {
             return makePolycube(setup.scenario, PolycubeBridge::simple);
         }},
    Kind{"polycube-bridge", Place::bridge, false, "polycubed's bridge with VLANs and spanning tree",
         [](const std::string&, const Setup& setup) {
             return makePolycube(setup.scenario, PolycubeBridge::whole);
         }},
};

const Kind* find(const std::string& name) {
    const auto* const kind = std::ranges::find(kinds, name, &Kind::name);
    return kind == kinds.end() ? nullptr : kind;
}

bool fits(const Kind& kind, Scenario scenario) {
    switch (kind.place) {
    case Place::bridge:
        return scenario == Scenario::bridge;
    case Place::router:
        return scenario == Scenario::router || scenario == Scenario::router6;
    case Place::polycube: // its NAT would give flows that it masquerades other ports than Linux does
        return scenario == Scenario::bridge || scenario == Scenario::router || scenario == Scenario::forward;
    case Place::firewall:
        return filters(scenario);
    case Place::any:
        break;
    }
    return true;
}

std::string scenariosOf(const Kind& kind) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < scenarioNames.size(); i++)
        if (fits(kind, static_cast<Scenario>(i)))
            names.push_back(scenarioNames.at(i));
    return fmt::format("{}", fmt::join(names, " or "));
}

std::vector<std::string> named(Scenario scenario, bool onlyUsual) {
    std::vector<std::string> names;
    for (const auto& kind : kinds)
        if (fits(kind, scenario) && (kind.usual || !onlyUsual))
            names.emplace_back(kind.name);
    return names;
}
} // namespace

std::string problemWithContender(const std::string& name, Scenario scenario) {
    if (const auto* kind = find(name))
        return fits(*kind, scenario) ? ""
                                     : fmt::format("'{}' is no {}: choose it with --scenario {}", name,
                                                   nameOf(scenario), scenariosOf(*kind));
    if (!name.starts_with(otherDaemon))
        return fmt::format("there is no contender '{}'; known: {}, all", name, contenderNames());
    const auto file = name.substr(otherDaemon.size());
    return ::access(file.c_str(), X_OK) == 0 ? ""
                                             : fmt::format("cannot run '{}': {}", file, errnoText(errno));
}

std::string problemWithContenders(const std::vector<std::string>& names, const Setup& setup) {
    const auto& cabling = setup.cabling;
    if (cabling.cabled())
        return cabling.bare() && names.size() > 1 ? "nobody tells the machine under test to forward one way "
                                                    "or the other: name one --contender, "
                                                    "or a command with --dut"
                                                  : "";
    if (cabling.bare() && names != std::vector<std::string>{"direct"})
        return "--dut none leaves the traffic tools by themselves: leave out --contender";
    for (const auto& name : names)
        if (auto problem = problemWithContender(name, setup.scenario); !problem.empty())
            return problem;
    return {};
}

std::vector<std::string> chooseContenders(const std::vector<std::string>& names,
                                          std::vector<std::string> usual, const Setup& setup) {
    if (!names.empty())
        return setup.cabling.cabled() ? names : expandContenders(names, setup.scenario);
    if (setup.cabling.cabled())
        return {"dut"};
    return setup.cabling.bare() ? std::vector<std::string>{"direct"} : std::move(usual);
}

std::string contenderNames() {
    std::string names;
    for (const auto& kind : kinds)
        names += fmt::format("{}, ", kind.name);
    return names + std::string{otherDaemon} + "FILE";
}

std::string contenderHelp() {
    std::string help = "Contenders:\n";
    for (const auto& kind : kinds)
        help += fmt::format("  {:<12} {}{}\n", kind.name, kind.help,
                            kind.place == Place::any ? "" : fmt::format(" ({})", scenariosOf(kind)));
    return help + fmt::format("  {:<12} another daemon, to compare with\n"
                              "  {:<12} all that the scenario has; what is not installed is shown with the "
                              "reason\n",
                              std::string{otherDaemon} + "FILE", "all");
}

std::vector<std::string> usualContenders(Scenario scenario) {
    return named(scenario, true);
}

std::vector<std::string> expandContenders(const std::vector<std::string>& names, Scenario scenario) {
    std::vector<std::string> expanded;
    for (const auto& name : names)
        for (const auto& one : name == "all" ? named(scenario, false) : std::vector{name})
            if (std::ranges::count(expanded, one) == 0)
                expanded.push_back(one);
    return expanded;
}

std::unique_ptr<Contender> makeContender(const std::string& name, const std::string& tnad,
                                         const Setup& setup) {
    if (setup.cabling.cabled())
        return makeCabled(name, setup.cabling);
    if (const auto* kind = find(name))
        return kind->make(tnad, setup);
    return makeTna(name.substr(otherDaemon.size()), "auto", setup);
}

} // namespace tna::bench
