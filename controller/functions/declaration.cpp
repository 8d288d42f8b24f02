// SPDX-License-Identifier: Apache-2.0
#include "functions/declaration.hpp"

#include "config/reader.hpp"

#include <tna/steer.h>

namespace tna::functions {

namespace {
constexpr const char* manual = "tna-functions.d(5) shows every setting";
constexpr std::size_t longestName = 31;
constexpr std::size_t mostPorts = 16;
constexpr std::size_t mostQueues = 64;

using config::Reader;
using Names = std::vector<std::pair<const char*, unsigned>>;

const Names vlans{{"none", 0}};
const Names etherTypes{{"ipv4", 0x0800}, {"arp", 0x0806}, {"ipv6", 0x86dd}, {"lldp", 0x88cc}};
const Names protocols{{"icmp", 1}, {"igmp", 2}, {"tcp", 6},   {"udp", 17},   {"gre", 47},
                      {"esp", 50}, {"ah", 51},  {"ospf", 89}, {"sctp", 132}, {"icmpv6", 58}};
const Names tcpFlags{{"fin", 1},  {"syn", 2},  {"rst", 4},  {"psh", 8},
                     {"ack", 16}, {"urg", 32}, {"ece", 64}, {"cwr", 128}};

std::string listed(const Names& names) {
    std::string text;
    for (const auto& [name, number] : names)
        text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
    return text;
}

std::optional<unsigned> find(const Names& names, const std::string& name) {
    for (const auto& [known, number] : names)
        if (name == known)
            return number;
    return std::nullopt;
}

/// Setters for what only functions have.
class DeclarationReader : public Reader {
public:
    using Reader::Reader;

    /// A name, or its number.
    Setter named(const std::string& key, std::optional<unsigned>& target, const Names& names, unsigned most) {
        return [this, key, &target, &names, most](const toml::node& node) {
            const auto number = node.value_exact<std::int64_t>();
            const auto name = node.value_exact<std::string>();
            target = name ? find(names, *name) : std::nullopt;
            if (number && *number >= 0 && *number <= most)
                target = static_cast<unsigned>(*number);
            if (!target)
                expected(node, key,
                         fmt::format("a number up to {}, or {}{}", most, names.size() > 1 ? "one of " : "",
                                     listed(names)));
        };
    }

    template <typename T>
    Setter text(const std::string& key, std::optional<T>& target,
                std::optional<T> (*parse)(const std::string&), const char* what) {
        return [this, key, &target, parse, what](const toml::node& node) {
            const auto number = node.value_exact<std::int64_t>();
            const auto text = node.value_exact<std::string>();
            target = text ? parse(*text) : number ? parse(std::to_string(*number)) : std::nullopt;
            if (!target)
                expected(node, key, what);
        };
    }

    /// "syn,!ack"
    Setter flags(const std::string& key, Rule& rule) {
        return [this, key, &rule](const toml::node& node) {
            auto rest = node.value_exact<std::string>().value_or("");
            bool good = !rest.empty();
            while (good && !rest.empty()) {
                const auto comma = rest.find(',');
                auto word = rest.substr(0, comma);
                rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
                const bool unset = word.starts_with('!');
                const auto flag = find(tcpFlags, unset ? word.substr(1) : word);
                good = flag && (rule.flagsMask & *flag) == 0;
                rule.flagsMask |= flag.value_or(0);
                rule.flags |= unset ? 0 : flag.value_or(0);
            }
            if (!good)
                expected(node, key, "flags of TCP that are set, or with ! are not, as in \"syn,!ack\"");
        };
    }

    Setter numbers(const std::string& key, std::vector<unsigned>& target, unsigned most) {
        return [this, key, &target, most](const toml::node& node) {
            target.clear();
            const auto* array = node.as_array();
            for (std::size_t i = 0; array != nullptr && i < array->size(); i++)
                if (const auto value = (*array)[i].value_exact<std::int64_t>();
                    value && *value >= 0 && *value <= most &&
                    std::ranges::find(target, static_cast<unsigned>(*value)) == target.end())
                    target.push_back(static_cast<unsigned>(*value));
            if (array == nullptr || target.size() != array->size())
                expected(node, key, fmt::format("a list of different numbers up to {}", most));
        };
    }

    Setter rules(std::vector<Rule>& target) {
        return [this, &target](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr || array->empty())
                return expected(node, "rule", "tables, each written [[rule]]");
            if (array->size() > TNA_STEER_RULES)
                return expected(node, "rule", fmt::format("at most {} tables", TNA_STEER_RULES));
            for (const auto& item : *array)
                if (const auto* inner = item.as_table())
                    target.push_back(rule(*inner));
                else
                    expected(item, "rule", "a table, written [[rule]]");
        };
    }

private:
    Rule rule(const toml::table& read) {
        Rule rule;
        const std::string prefixes = "an address or a prefix of IPv4 or IPv6, without bits behind its length";
        const char* ports = "a port or a range, as in 53 or \"1024-2047\"";
        table(read, "rule.",
              {{"priority", number("rule.priority", rule.priority, 0, 65534, false)},
               {"ports", strings("rule.ports", rule.ports)},
               {"vlan", named("rule.vlan", rule.vlan, vlans, 4094)},
               {"ether_type", named("rule.ether_type", rule.etherType, etherTypes, 65535)},
               {"protocol", named("rule.protocol", rule.protocol, protocols, 255)},
               {"from", text("rule.from", rule.from, parsePrefix, prefixes.c_str())},
               {"to", text("rule.to", rule.to, parsePrefix, prefixes.c_str())},
               {"from_port", text("rule.from_port", rule.fromPort, parsePorts, ports)},
               {"to_port", text("rule.to_port", rule.toPort, parsePorts, ports)},
               {"tcp_flags", flags("rule.tcp_flags", rule)}});
        if (const auto wrong = contradiction(rule))
            expected(read, "rule", *wrong);
        return rule;
    }

    /// What no frame can be.
    static std::optional<std::string> contradiction(const Rule& rule) {
        const auto version = rule.from ? rule.from->version : rule.to ? rule.to->version : 0U;
        const bool ports = rule.fromPort || rule.toPort;
        if (rule.from && rule.to && rule.from->version != rule.to->version)
            return "of one IP version, but 'from' and 'to' are of two";
        if (version != 0 && rule.etherType && *rule.etherType != (version == 4 ? 0x0800U : 0x86ddU))
            return "without an 'ether_type' that contradicts its addresses";
        if (ports && rule.protocol != 6U && rule.protocol != 17U)
            return "for one protocol with ports: 'protocol' is to be \"tcp\" or \"udp\"";
        if (rule.flagsMask != 0 && rule.protocol != 6U)
            return "for TCP where it has 'tcp_flags': 'protocol' is to be \"tcp\"";
        if (rule.protocol && rule.etherType && *rule.etherType != 0x0800U && *rule.etherType != 0x86ddU)
            return "without a 'protocol' where the 'ether_type' is not IP";
        return std::nullopt;
    }
};

std::optional<std::string> missing(const Declaration& declared) {
    if (declared.ports.empty() || declared.ports.size() > mostPorts)
        return fmt::format("'ports' must be a list of 1 to {} names", mostPorts);
    for (std::size_t i = 0; i < declared.ports.size(); i++)
        if (std::ranges::count(declared.ports, declared.ports[i]) != 1)
            return fmt::format("'ports' names {} twice", declared.ports[i]);
    for (const auto& rule : declared.rules)
        for (const auto& port : rule.ports)
            if (std::ranges::find(declared.ports, port) == declared.ports.end())
                return fmt::format("'rule.ports' names {}, which is not among the function's 'ports'", port);
    if (declared.rules.empty())
        return "there is no [[rule]], so nothing would be steered";
    constexpr std::size_t fewest = 8; // for each socket to receive into; as many again are the function's
    if (const auto sockets = std::max(declared.ports.size() * declared.queues.size(), std::size_t{1});
        declared.frames < 2 * fewest * sockets)
        return fmt::format("'frames' must be at least {}, for {} sockets", 2 * fewest * sockets, sockets);
    return std::nullopt;
}
} // namespace

unsigned Declaration::lastPriority() const {
    unsigned last = 0;
    for (const auto& rule : rules)
        last = std::max(last, rule.priority);
    return last;
}

bool isFunctionName(const std::string& name) {
    const auto good = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
    };
    return !name.empty() && name.size() <= longestName && name[0] != '.' && name[0] != '-' &&
           std::ranges::all_of(name, good);
}

Result<Declaration> parseDeclaration(const std::string& text, const std::string& name,
                                     const std::string& file) {
    if (!isFunctionName(name))
        return std::unexpected(
            Error{fmt::format("'{}' is no name for a network function", name),
                  {},
                  fmt::format("letters, digits, '_', '-' and '.', at most {}", longestName),
                  ExitCode::usage});
    const auto parsed = config::parseToml(text, file, manual);
    if (!parsed)
        return std::unexpected(parsed.error());
    Declaration declared{.name = name};
    DeclarationReader reader{file, manual};
    static const std::vector<std::string> modes{"copy", "zero-copy"}, ways{"linux", "drop"},
        receivers{"linux", "next"};
    std::string mode = "copy", otherwise = "linux", givenBack = "linux";
    reader.table(*parsed, "",
                 {{"users", reader.strings("users", declared.users)},
                  {"groups", reader.strings("groups", declared.groups)},
                  {"ports", reader.strings("ports", declared.ports)},
                  {"queues", reader.numbers("queues", declared.queues, mostQueues - 1)},
                  {"frames", reader.number("frames", declared.frames, 64, 1U << 18U, true)},
                  {"frame_size", reader.number("frame_size", declared.frameSize, 2048, 4096, true)},
                  {"mode", reader.choice("mode", mode, modes)},
                  {"otherwise", reader.choice("otherwise", otherwise, ways)},
                  {"given_back", reader.choice("given_back", givenBack, receivers)},
                  {"rule", reader.rules(declared.rules)}});
    if (const auto error = reader.error())
        return std::unexpected(*error);
    if (const auto wrong = missing(declared))
        return std::unexpected(Error{fmt::format("{}: {}", file, *wrong), {}, manual, ExitCode::usage});
    declared.mode = mode == "zero-copy" ? Mode::zeroCopy : Mode::copy;
    declared.drop = otherwise == "drop";
    declared.givesOn = givenBack == "next";
    return declared;
}

} // namespace tna::functions
