// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace tna {

/// Exit codes of all programs; documented in their man pages.
enum class ExitCode : int {
    ok = 0,
    failure = 1,      ///< the operation failed
    usage = 2,        ///< wrong command line or configuration file
    noPermission = 3, ///< missing privileges
    notSupported = 4, ///< the kernel lacks what is needed
    unreachable = 5,  ///< the daemon does not answer
};

/// What failed, in the words a user needs: what was tried and on what, the cause in the kernel's own
/// words, and what the user can do about it.
struct Error {
    std::string what;
    std::string cause;
    std::string hint;
    ExitCode code = ExitCode::failure; ///< how a program that gives up because of it ends
    int number = 0;                    ///< the errno value of its cause, if it has one

    /// One sentence: "what: cause (hint)".
    [[nodiscard]] std::string sentence() const;
    /// Whether it would be as it should be on another machine, or for another user.
    [[nodiscard]] bool isForLackOfSomething() const {
        return code == ExitCode::notSupported || code == ExitCode::noPermission;
    }

    [[nodiscard]] Error withHint(std::string text) && {
        hint = std::move(text);
        return std::move(*this);
    }
    [[nodiscard]] Error withCode(ExitCode exitCode) && {
        code = exitCode;
        return std::move(*this);
    }
};

template <typename T>
using Result = std::expected<T, Error>;

/// An error with no cause of its own.
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
    return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), {}, {}});
}

/// An error whose cause is an errno value (positive or negative).
template <typename... Args>
[[nodiscard]] std::unexpected<Error> failErrno(int code, fmt::format_string<Args...> format, Args&&... args);

/// The text of an errno value, thread safe.
[[nodiscard]] std::string errnoText(int code);

template <typename... Args>
std::unexpected<Error> failErrno(int code, fmt::format_string<Args...> format, Args&&... args) {
    const int number = code < 0 ? -code : code;
    return std::unexpected(Error{
        fmt::format(format, std::forward<Args>(args)...), errnoText(number), {}, ExitCode::failure, number});
}

} // namespace tna
