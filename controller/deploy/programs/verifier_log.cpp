// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/verifier_log.hpp"

#include <deque>
#include <sstream>

namespace tna::deploy {

namespace {
constexpr std::size_t shownLines = 8;

std::string withoutStatistics(const std::string& log) {
    for (const auto* begin : {"\nverification time ", "\nprocessed "})
        if (const auto at = log.rfind(begin); at != std::string::npos)
            return log.substr(0, at);
    return log;
}
} // namespace

std::string complaint(const std::string& log) {
    const auto text = withoutStatistics(log);
    const auto line = text.rfind('\n', text.size() - 2);
    return line == std::string::npos ? text : text.substr(line + 1);
}

std::string endOfVerifierLog(const std::string& log) {
    std::istringstream lines{withoutStatistics(log)};
    std::deque<std::string> last;
    for (std::string line; std::getline(lines, line);) {
        // States of registers are long, and of use to those only who ask the verifier themselves.
        if (line.empty() || line.starts_with("func#") || line.starts_with("mark_precise"))
            continue;
        last.push_back(line.substr(0, 160));
        if (last.size() > shownLines)
            last.pop_front();
    }
    std::string text = "the verifier says:";
    for (const auto& line : last)
        text += "\n  " + line;
    return text;
}

} // namespace tna::deploy
