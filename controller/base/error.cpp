// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <system_error>

namespace tna {

std::string Error::sentence() const {
    std::string text = what;
    if (!cause.empty())
        text += ": " + cause;
    if (!hint.empty())
        text += " (" + hint + ")";
    return text;
}

std::string errnoText(int code) {
    return std::generic_category().message(code);
}

} // namespace tna
