// SPDX-License-Identifier: Apache-2.0
#include "bench/results/journal.hpp"

#include "base/file.hpp"

#include <filesystem>
#include <sstream>

namespace tna::bench {

namespace {
constexpr std::size_t largestJournal = 1U << 28U;
} // namespace

Result<Journal> Journal::open(const std::string& file, const nlohmann::json& plan) {
    Journal journal;
    journal.file_ = file;
    if (file.empty())
        return journal;
    const bool exists = std::filesystem::exists(file);
    if (exists) {
        const auto text = readNamedFile(file, largestJournal);
        if (!text)
            return std::unexpected(text.error());
        if (auto read = journal.read(*text, plan); !read)
            return std::unexpected(read.error());
    }
    // Written anew, without what was cut off, beside the old one: whatever ends this program now, one of them
    // is whole.
    const auto next = file + ".new";
    journal.stream_.open(next, std::ios::trunc);
    journal.stream_ << plan.dump() << '\n';
    for (const auto& [measurement, found] : journal.found_)
        journal.stream_ << nlohmann::json{{"measurement", measurement}, {"found", found}}.dump() << '\n';
    journal.stream_.flush();
    std::error_code failed;
    if (journal.stream_)
        std::filesystem::rename(next, file, failed);
    if (!journal.stream_ || failed) {
        std::error_code ignored;
        std::filesystem::remove(next, ignored);
        return std::unexpected(Error{fmt::format("cannot write '{}'", file), {}, {}, ExitCode::usage});
    }
    return journal;
}

Result<void> Journal::read(const std::string& text, const nlohmann::json& plan) {
    std::istringstream lines{text};
    std::string line;
    const bool begun = static_cast<bool>(std::getline(lines, line));
    const auto first = begun ? nlohmann::json::parse(line, nullptr, false) : plan;
    if (first.is_discarded() || first != plan)
        return std::unexpected(Error{fmt::format("'{}' is not a journal of the same measurements", file_),
                                     {},
                                     "choose another file, or remove it",
                                     ExitCode::usage});
    while (std::getline(lines, line)) {
        auto entry = nlohmann::json::parse(line, nullptr, false);
        if (!entry.is_object() || !entry.contains("measurement") || !entry["measurement"].is_string())
            break;
        found_[entry["measurement"]] = std::move(entry["found"]);
    }
    return {};
}

const nlohmann::json* Journal::find(const std::string& measurement) const {
    const auto at = found_.find(measurement);
    return at == found_.end() ? nullptr : &at->second;
}

Result<void> Journal::add(const std::string& measurement, nlohmann::json found) {
    if (stream_.is_open()) {
        stream_ << nlohmann::json{{"measurement", measurement}, {"found", found}}.dump() << '\n'
                << std::flush;
        if (!stream_)
            return fail("cannot write '{}'", file_);
    }
    found_[measurement] = std::move(found);
    return {};
}

} // namespace tna::bench
