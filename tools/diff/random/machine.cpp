// SPDX-License-Identifier: Apache-2.0
#include "diff/random/machine.hpp"

#include "diff/world.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tna::diff {

namespace {
using nlohmann::json;

/// A world in which nothing is compared.
class Trial {
public:
    static std::optional<Trial> make() {
        auto far = FarSide::make();
        if (!far)
            return std::nullopt;
        auto kept = std::make_unique<FarSide>(std::move(*far));
        auto world = World::make("trial", *kept, {"p0", "p1", "p2", "p3"});
        if (!world)
            return std::nullopt;
        return Trial(std::move(kept), std::move(*world));
    }
    /// What it said; nothing if it failed.
    std::optional<std::string> run(const std::string& words) {
        const auto said = world_.run(words);
        if (!said || !said->starts_with("0 "))
            return std::nullopt;
        return said->substr(2);
    }

private:
    Trial(std::unique_ptr<FarSide> far, World world) : far_(std::move(far)), world_(std::move(world)) {}
    std::unique_ptr<FarSide> far_;
    World world_;
};

std::vector<Setting> sysctlsOf(Trial& trial) {
    const auto said =
        trial.run("cd /proc/sys/net && find ipv4 ipv6 bridge -type f -perm -200 2>/dev/null | sort | "
                  "xargs grep -Hs . ; cd /");
    std::vector<Setting> found;
    std::istringstream lines(said.value_or(""));
    for (std::string line; std::getline(lines, line);)
        if (const auto colon = line.find(':'); colon != std::string::npos)
            found.push_back({line.substr(0, colon), line.substr(colon + 1)});
    return found;
}

/// As commands take it.
std::string valueOf(const json& value) {
    if (value.is_boolean())
        return value.get<bool>() ? "on" : "off";
    if (value.is_number())
        return std::to_string(value.get<long long>());
    return value.is_string() ? value.get<std::string>() : "";
}

/// Of what is shown, the part that is accepted as it is.
std::vector<Setting> optionsOf(Trial& trial, const json& shown, const std::string& command) {
    std::vector<Setting> found;
    for (const auto& [name, value] : shown.items()) {
        auto text = valueOf(value);
        if (text.empty())
            continue;
        // Some programs say "on" and want to hear 1.
        for (const auto& said : {text, std::string(text == "on" ? "1" : "0")})
            if (trial.run(command + " " + name + " " + said)) {
                found.push_back({name, said});
                break;
            }
    }
    return found;
}

json shown(Trial& trial, const std::string& words) {
    auto read = json::parse(trial.run(words).value_or(""), nullptr, false);
    return read.is_array() && !read.empty() ? read[0] : json::object();
}

Machine ask() {
    Machine made;
    auto trial = Trial::make();
    if (!trial)
        return made;
    trial->run("ip link add br0 address 02:00:00:00:ff:00 type bridge && ip link set p0 master br0 && "
               "ip link set p0 up && ip link set br0 up");
    made.sysctls = sysctlsOf(*trial);
    const auto port = shown(*trial, "ip -d -j link show p0")
                          .value("/linkinfo/info_slave_data"_json_pointer, json::object());
    const auto bridge =
        shown(*trial, "ip -d -j link show br0").value("/linkinfo/info_data"_json_pointer, json::object());
    made.portOptions = optionsOf(*trial, port, "ip link set p0 type bridge_slave");
    for (auto& more :
         optionsOf(*trial, shown(*trial, "bridge -d -j link show dev p0"), "bridge link set dev p0"))
        if (std::ranges::find(made.portOptions, more.name, &Setting::name) == made.portOptions.end())
            made.portOptions.push_back(std::move(more));
    made.bridgeOptions = optionsOf(*trial, bridge, "ip link set br0 type bridge");
    return made;
}
} // namespace

const Machine& machine() {
    static const Machine found = ask();
    return found;
}

std::vector<std::size_t> accepted(const std::vector<std::string>& commands) {
    std::vector<std::size_t> found;
    auto trial = Trial::make();
    if (!trial)
        return found;
    trial->run("for i in 0 1 2 3; do ip link set p$i up; done");
    std::string all;
    for (std::size_t i = 0; i < commands.size(); i++)
        all += fmt::format("if {}; then echo ok {}; fi >&3 2>/dev/null; {} 2>/dev/null; ",
                           fmt::format(fmt::runtime(commands[i]), "p0"), i,
                           "tc qdisc del dev p0 root; tc qdisc del dev p0 clsact; ip link del x0");
    std::istringstream lines(trial->run("{ " + all + "true; } 3>&1 2>/dev/null").value_or(""));
    std::string ok;
    for (std::size_t i = 0; lines >> ok >> i;)
        found.push_back(i);
    return found;
}

} // namespace tna::diff
