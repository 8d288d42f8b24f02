// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/flows.hpp"
#include "base/error.hpp"
#include "deploy/kernel/hook_lists.hpp"

#include <map>
#include <optional>
#include <string>

namespace tna::daemon {

/// Reads the rule sets over netlink, and which functions netfilter calls in the kernel itself: together, as
/// they are in effect at one time. In the network namespace of the calling thread.
class RulesInPlaceReader {
public:
    [[nodiscard]] Result<assemble::RulesInPlace> read();

private:
    [[nodiscard]] Result<deploy::HookLists> readHooks();
    [[nodiscard]] Result<void> name(const deploy::HookLists& lists);
    void take(model::RuleFamily family, const deploy::HookPlaces& places, assemble::FunctionPlaces& functions,
              std::vector<model::HookFunction>& all) const;

    std::optional<deploy::HookProbe> probe_;
    std::map<std::uint64_t, std::string> names_; ///< of functions, by address, of these:
    std::optional<deploy::HookLists> named_;
};

} // namespace tna::daemon
