// SPDX-License-Identifier: Apache-2.0
#include "bench/results/analysis.hpp"

#include "base/file.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"

#include <unistd.h>

namespace tna::bench {

namespace {
std::string findProgram() {
    const auto own = ownFolder();
    for (const auto& candidate :
         {own / "report/studies/main.py", own.parent_path() / "libexec/tna/bench-report/studies/main.py"})
        if (::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    return {};
}
} // namespace

Result<Analysis> analyse(const nlohmann::json& document, const std::vector<std::string>& words) {
    const auto program = findProgram();
    if (program.empty())
        return fail("its program for statistics is missing: install tna-bench again");
    const auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto in = folder->path() + "/result.json";
    const auto out = folder->path() + "/analysis.json";
    if (auto written = writeFile(in, document.dump()); !written)
        return std::unexpected(written.error());
    std::vector<std::string> line{program, in, out};
    line.insert(line.end(), words.begin(), words.end());
    if (auto done = runProgram(line); !done)
        return std::unexpected(done.error());
    const auto text = readFile(out);
    if (!text)
        return std::unexpected(text.error());
    auto answer = nlohmann::json::parse(*text, nullptr, false);
    if (!answer.is_object() || !answer.contains("analysis") || !answer.contains("text"))
        return fail("'{}' gave no answer", program);
    return Analysis{std::move(answer["analysis"]), answer["text"].get<std::string>()};
}

} // namespace tna::bench
