// SPDX-License-Identifier: Apache-2.0
#include "diff/compare.hpp"

#include "diff/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/ranges.h>
#include <sstream>

namespace tna::diff {

namespace {
std::map<std::string, std::vector<Frame>> flowsOf(const std::vector<Frame>& frames) {
    std::map<std::string, std::vector<Frame>> flows;
    for (const auto& frame : frames)
        flows[flowOf(frame)].push_back(frame);
    return flows;
}

std::string shown(const char* who, const std::vector<Frame>& frames) {
    constexpr std::size_t enough = 3;
    std::string lines = fmt::format("  {}: {} more frames\n", who, frames.size());
    for (std::size_t i = 0; i < std::min(frames.size(), enough); i++)
        lines += fmt::format("   {}\n", text(frames[i]));
    return lines;
}

/// Frames that the other has not, or not so often.
std::vector<Frame> missing(std::vector<Frame> from, std::vector<Frame> other) {
    std::ranges::sort(from);
    std::ranges::sort(other);
    std::vector<Frame> found;
    std::ranges::set_difference(from, other, std::back_inserter(found));
    return found;
}

std::optional<Difference> compareAt(const std::string& place, const std::vector<Frame>& plain,
                                    const std::vector<Frame>& fast) {
    auto inPlain = flowsOf(plain), inFast = flowsOf(fast);
    std::string lines;
    for (const auto& [flow, frames] : inPlain) {
        const auto& others = inFast[flow];
        if (frames == others)
            continue;
        const auto onlyPlain = missing(frames, others), onlyFast = missing(others, frames);
        lines += onlyPlain.empty() && onlyFast.empty()
                     ? "  the same frames in another order\n" + shown("Linux", frames) + shown("tna", others)
                     : shown("Linux", onlyPlain) + shown("tna", onlyFast);
    }
    for (const auto& [flow, frames] : inFast)
        if (!inPlain.contains(flow))
            lines += shown("Linux", {}) + shown("tna", frames);
    return Difference{0, place, lines};
}

std::string joined(const std::vector<std::string>& lines) {
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::multiset<std::string> linesOf(const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.insert(line);
    return lines;
}

/// How long each line of nf_conntrack says that a connection lives; by the rest of it.
std::map<std::string, long> timesIn(const std::string& file) {
    constexpr std::size_t place = 4;
    std::map<std::string, long> times;
    std::istringstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const auto words = wordsOf(line);
        std::string rest;
        for (std::size_t i = 0; i < words.size(); i++)
            if (i != place && !words[i].starts_with("delta-time="))
                rest += words[i] + " ";
        if (words.size() > place)
            times[rest] = std::atol(words[place].c_str());
    }
    return times;
}
} // namespace

std::optional<Difference> compareLines(const std::string& where, const std::string& plain,
                                       const std::string& fast) {
    if (plain == fast)
        return std::nullopt;
    const auto inPlain = linesOf(plain), inFast = linesOf(fast);
    std::vector<std::string> missing, added;
    std::ranges::set_difference(inPlain, inFast, std::back_inserter(missing));
    std::ranges::set_difference(inFast, inPlain, std::back_inserter(added));
    std::string what;
    for (const auto& line : missing)
        what += "  Linux: " + line + "\n";
    for (const auto& line : added)
        what += "  tna:   " + line + "\n";
    return Difference{0, where, what.empty() ? "  the same lines in another order\n" : what};
}

std::optional<Difference> compare(const Seen& plain, const Seen& fast, unsigned& reordered) {
    static const std::vector<Frame> none;
    const auto at = [](const Seen& seen, const std::string& place) -> const std::vector<Frame>& {
        const auto found = seen.frames.find(place);
        return found == seen.frames.end() ? none : found->second;
    };
    std::set<std::string> places;
    for (const auto* seen : {&plain, &fast})
        for (const auto& [place, frames] : seen->frames)
            places.insert(place);
    for (const auto& place : places) {
        const auto& one = at(plain, place);
        const auto& other = at(fast, place);
        if (one == other)
            continue;
        if (flowsOf(one) != flowsOf(other))
            return compareAt(place, one, other);
        reordered++;
    }
    if (auto different = compareLines("redirects", fmt::format("{}\n", fmt::join(plain.redirected, "\n")),
                                      fmt::format("{}\n", fmt::join(fast.redirected, "\n"))))
        return different;
    return compareLines("the host itself", joined(plain.heard), joined(fast.heard));
}

std::optional<Difference> compareMemory(const std::string& plain, const std::string& fast, bool startedAnew) {
    static const std::string closed = " CLOSE ", established = " ESTABLISHED ";
    auto inPlain = linesOf(plain), inFast = linesOf(fast);
    for (auto line = inPlain.begin(); startedAnew && line != inPlain.end();) {
        const auto at = line->find(closed);
        const bool stayed = at != std::string::npos && !inFast.contains(*line) &&
                            inFast.extract(std::string(*line).replace(at, closed.size(), established));
        line = stayed ? inPlain.erase(line) : std::next(line);
    }
    return compareLines("what Linux remembers", joined({inPlain.begin(), inPlain.end()}),
                        joined({inFast.begin(), inFast.end()}));
}

std::optional<Difference> compareTimes(const std::string& plain, const std::string& fast) {
    const auto inPlain = timesIn(plain), inFast = timesIn(fast);
    std::string what;
    // A packet of each flow is Linux's at least twice in a second, where connections live for minutes.
    constexpr long leftUndone = 2;
    for (const auto& [ends, seconds] : inPlain)
        if (const auto other = inFast.find(ends);
            other != inFast.end() && std::labs(other->second - seconds) > leftUndone)
            what +=
                fmt::format("  {}: under Linux for {} s, with tna for {} s\n", ends, seconds, other->second);
    return what.empty() ? std::nullopt : std::optional(Difference{0, "how long connections live", what});
}

} // namespace tna::diff
