// SPDX-License-Identifier: Apache-2.0
#include "tnactl/trace_command.hpp"

#include "cli/checks.hpp"
#include "tnactl/document.hpp"
#include "tnactl/pcap.hpp"
#include "tnactl/unknown_port.hpp"

#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

namespace tna::ctl {

namespace {
using nlohmann::json;

std::string end(const json& packet, const char* address, const char* port) {
    const auto host = text(packet, address);
    const auto number = text(packet, port);
    if (number.empty())
        return host;
    return host.find(':') == std::string::npos ? host + ":" + number : fmt::format("[{}]:{}", host, number);
}

std::string summary(const json& packet) {
    std::string tags;
    for (const auto& tag : part(packet, "tags"))
        tags += fmt::format(" vlan {}", text(tag, "id"));
    if (text(packet, "source").empty())
        return fmt::format("{} > {} {}{}", text(packet, "source_mac"), text(packet, "destination_mac"),
                           text(packet, "ether_type"), tags);
    return fmt::format("{} > {} {}{}", end(packet, "source", "source_port"),
                       end(packet, "destination", "destination_port"), text(packet, "protocol"), tags);
}

std::string decided(const json& decision) {
    const auto by = text(decision, "by");
    if (by == "module")
        return "taken by a custom module";
    if (text(decision, "action") != "forward")
        return fmt::format("{}: slow, to Linux: {}", by, text(part(decision, "reason"), "text"));
    auto line = fmt::format("{}: fast, out of {}", by, text(decision, "egress"));
    if (const auto mac = text(decision, "destination_mac"); !mac.empty())
        line += " to " + mac;
    if (const auto tag = part(decision, "tag"); tag.is_object())
        line += fmt::format(", tag: {} {}", text(tag, "action"), text(tag, "id"));
    return line;
}
} // namespace

std::string renderPacket(const json& document) {
    if (text(document, "event") == "lost")
        return fmt::format("{} packets are not shown: there was no room for them; --every shows fewer\n",
                           text(document, "packets"));
    return fmt::format("{}  {}  {}, {} bytes  {}\n", text(document, "time"), text(document, "port"),
                       summary(part(document, "packet")), text(document, "length"),
                       decided(part(document, "decision")));
}

void TraceCommand::describe(CLI::App& command) {
    command.footer("Examples: tnactl trace --port eth0 --count 10\n"
                   "          tnactl trace --every 1000 --pcap sample.pcap");
    command.add_option("--port", port_, "packets that come in by this port (default: by all)");
    command.add_option("--every", oneIn_, "one in so many packets")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 1U << 30U));
    command.add_option("--count", count_, "end after so many (default: never)")
        ->check(cli::wholeNumber(1, cli::mostTimes));
    command.add_option("--pcap", file_, "write what is shown of the packets into a file as well");
}

Result<void> TraceCommand::run(const Client& client, bool asJson) const {
    std::optional<Pcap> pcap;
    if (!file_.empty()) {
        auto opened = Pcap::create(file_);
        if (!opened)
            return std::unexpected(opened.error());
        pcap.emplace(std::move(*opened));
    }
    json wish{{"every", oneIn_}};
    if (!port_.empty())
        wish["port"] = port_;
    auto left = count_;
    Result<void> unwritten;
    const auto followed = client.follow("POST", "/v1/trace", wish, [&](const json& document) {
        fmt::print("{}", asJson ? documentText(document) : renderPacket(document));
        std::fflush(stdout);
        if (text(document, "event") != "packet")
            return true;
        if (pcap && !pcap->write(document)) {
            unwritten = failErrno(errno, "cannot write {}", file_);
            return false;
        }
        return (left == 0 || --left > 0) && std::ferror(stdout) == 0;
    });
    if (followed && !unwritten)
        return unwritten;
    return followed ? followed : std::unexpected(namePorts(client, port_, followed.error()));
}

} // namespace tna::ctl
