// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tna::api {

/// How long a request is, as its head says. What is wrong with it otherwise is for the library to find.
struct Framing {
    std::size_t head = 0; ///< with the empty line
    std::size_t body = 0;
    bool awaitsContinue = false; ///< the body comes after an interim answer, or a second later
    bool looks = false;          ///< GET or HEAD
};

/// The interim answer to who waits for it before sending a body.
inline constexpr std::string_view interimAnswer = "HTTP/1.1 100 Continue\r\n\r\n";

/// Nothing as long as the head is not there.
[[nodiscard]] std::optional<Framing> framingOf(std::string_view received);

/// A request without some of its headers, named in small letters. Lines end where they do for the library: at
/// each line feed.
[[nodiscard]] std::string withoutHeaders(std::string_view request, std::span<const std::string_view> names);

} // namespace tna::api
