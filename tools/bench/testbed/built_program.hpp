// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/temporary_folder.hpp"

#include <memory>

namespace tna::bench {

/// A program in C that comes as its source, as it needs what few machines have: it is built where it runs, in
/// a folder of its own; all who need it share it.
class BuiltProgram {
public:
    /// `source` is a file in a folder of this name: beside this program, as built, or bench-FOLDER, as
    /// installed. `library` is what pkg-config knows, `packages` what has it and is to be installed.
    [[nodiscard]] static Result<std::shared_ptr<BuiltProgram>> get(const std::string& folder,
                                                                   const std::string& source,
                                                                   const std::string& library,
                                                                   const std::string& packages);
    [[nodiscard]] std::string file() const { return folder_.path() + "/program"; }

private:
    explicit BuiltProgram(TemporaryFolder folder) : folder_(std::move(folder)) {}
    TemporaryFolder folder_;
};

} // namespace tna::bench
