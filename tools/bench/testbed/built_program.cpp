// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/built_program.hpp"

#include "bench/testbed/process.hpp"
#include "bench/testbed/tnad.hpp"

#include <map>
#include <unistd.h>

namespace tna::bench {

namespace {
std::string findSource(const std::string& folder, const std::string& source) {
    const auto own = ownFolder();
    for (const auto& candidate :
         {own / folder / source, own.parent_path() / "libexec/tna" / ("bench-" + folder) / source})
        if (::access(candidate.c_str(), R_OK) == 0)
            return candidate;
    return {};
}
} // namespace

Result<std::shared_ptr<BuiltProgram>> BuiltProgram::get(const std::string& folder, const std::string& source,
                                                        const std::string& library,
                                                        const std::string& packages) {
    static std::map<std::string, std::weak_ptr<BuiltProgram>> known;
    if (auto built = known[source].lock())
        return built;
    const auto file = findSource(folder, source);
    if (file.empty())
        return fail("the source of {} is missing: install tna-bench again", source);
    auto place = TemporaryFolder::make();
    if (!place)
        return std::unexpected(place.error());
    const std::shared_ptr<BuiltProgram> made{new BuiltProgram(std::move(*place))};
    // pkg-config answers with words that the shell has to take apart.
    const auto line = fmt::format("flags=$(pkg-config --cflags --libs {}) && cc -O3 -o {} {} $flags", library,
                                  made->file(), file);
    if (auto built = runProgram({"sh", "-c", line}); !built)
        return std::unexpected(std::move(built.error()).withHint("apt-get install " + packages));
    known[source] = made;
    return made;
}

} // namespace tna::bench
