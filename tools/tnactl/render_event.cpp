// SPDX-License-Identifier: Apache-2.0
#include "tnactl/render_event.hpp"

#include "base/printable.hpp"
#include "tnactl/document.hpp"

#include <fmt/format.h>

namespace tna::ctl {

namespace {
using nlohmann::json;

std::string port(const json& event) {
    const auto state = text(event, "state");
    if (const auto profile = text(event, "profile"); !profile.empty())
        return state + ", profile " + profile;
    const auto reasons = list(event, "reasons");
    return !reasons.empty() ? state + ": " + text(reasons.front(), "text") : state;
}

std::string frames(const json& event) {
    return fmt::format("frames {} it {}", text(event, "which"),
                       yes(event, "left_to_linux")
                           ? "are left to Linux: " + text(part(event, "reason"), "text")
                           : "may take the fast path again");
}

std::string ofAll(const json& event) {
    const auto kind = text(event, "event");
    if (kind == "begin")
        return "tnad " + text(event, "version");
    if (kind == "configuration")
        return text(event, "action") == "read" ? "configuration read again"
                                               : "configuration refused: " + text(event, "why");
    if (kind == "module")
        return fmt::format("custom module {}: {}", text(event, "module"), text(event, "action"));
    if (kind == "fast-path")
        return fmt::format("fast path loaded anew: {} (forwarding database: {})", text(event, "why"),
                           text(event, "fdb"));
    return printable(event.dump());
}
} // namespace

std::string renderEvent(const json& event) {
    if (!event.is_object())
        return printable(event.dump()) + "\n";
    const auto kind = text(event, "event");
    const auto about = text(event, "port");
    std::string what;
    if (kind == "port")
        what = about + ": " + port(event);
    else if (kind == "frames")
        what = about + ": " + frames(event);
    else if (kind == "pause" || kind == "resume")
        what = fmt::format("{}: {}d by the operator", about.empty() ? "all ports" : about, kind);
    else
        what = ofAll(event);
    return text(event, "time") + "  " + what + "\n";
}

} // namespace tna::ctl
