// SPDX-License-Identifier: Apache-2.0
#include "diff/script_check.hpp"

#include "base/printable.hpp"
#include "diff/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace tna::diff {

namespace {
constexpr std::array<std::string_view, 38> known{"ip",
                                                 "bridge",
                                                 "tc",
                                                 "nft",
                                                 "ethtool",
                                                 "sysctl",
                                                 "brctl",
                                                 "iptables",
                                                 "ip6tables",
                                                 "ebtables",
                                                 "arptables",
                                                 "iptables-restore",
                                                 "ip6tables-restore",
                                                 "ebtables-restore",
                                                 "ipset",
                                                 "ifconfig",
                                                 "route",
                                                 "arp",
                                                 "vconfig",
                                                 "ifenslave",
                                                 "devlink",
                                                 "dcb",
                                                 "conntrack",
                                                 "wg",
                                                 "mstpctl",
                                                 "modprobe",
                                                 "ping",
                                                 "sleep",
                                                 "echo",
                                                 "printf",
                                                 "true",
                                                 "false",
                                                 ":",
                                                 "[",
                                                 "if",
                                                 "for",
                                                 "while",
                                                 "!"};
constexpr std::size_t longestShown = 60;

std::unexpected<Error> refused(unsigned line, const std::string& words, const std::string& why,
                               std::string hint) {
    const auto shown = printable(words.substr(0, longestShown)) + (words.size() > longestShown ? "..." : "");
    return std::unexpected(Error{fmt::format("this is no script: line {} {}", line, why),
                                 fmt::format("'{}'", shown), std::move(hint), ExitCode::usage});
}

/// NAME=value
bool assigns(std::string_view word) {
    const auto name = word.substr(0, word.find('='));
    return name.size() < word.size() && !name.empty() &&
           std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::ranges::all_of(
               name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

/// `/sbin/ip` is `ip`.
bool configures(std::string_view word) {
    return assigns(word) || std::ranges::find(known, word.substr(word.rfind('/') + 1)) != known.end();
}

Result<void> checkText(const std::string& words, unsigned line) {
    if (printableLines(words) == words)
        return {};
    const bool windows =
        words.ends_with('\r') && printableLines(words.substr(0, words.size() - 1)) + "\r" == words;
    return refused(line, words, windows ? "ends as on Windows" : "is no plain text",
                   windows ? "`dos2unix` converts it"
                           : "it has characters that are none in UTF-8, or control terminals");
}
} // namespace

Result<void> checkScript(const std::string& script) {
    std::istringstream lines(script);
    unsigned number = 0;
    bool said = false; ///< the file itself says that it is a script
    bool empty = true;
    for (std::string line; std::getline(lines, line);) {
        number++;
        if (auto text = checkText(line, number); !text)
            return text;
        const auto words = wordsOf(line);
        if (words.empty() || words.front().starts_with('#'))
            continue;
        said = said || (empty && words.front().starts_with('@'));
        empty = false;
        if (!said && !words.front().starts_with('@') && !configures(words.front()))
            return refused(number, line, "begins with no command for networks",
                           "if it is one, let it begin with a line '@ports NAME ...': then any command goes, "
                           "see tna-diff(1)");
    }
    if (empty)
        return refused(std::max(number, 1U), "", "is the last one, and none says anything",
                       "tna-diff(1) has an example");
    return {};
}

} // namespace tna::diff
