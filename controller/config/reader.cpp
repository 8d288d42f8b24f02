// SPDX-License-Identifier: Apache-2.0
#include "config/reader.hpp"

#include "config/characters.hpp"

namespace tna::config {

Result<toml::table> parseToml(const std::string& written, const std::string& name,
                              const std::string& manual) {
    // Editors of other systems begin files with it.
    constexpr std::string_view mark = "\xef\xbb\xbf";
    const auto text = written.starts_with(mark) ? written.substr(mark.size()) : written;
    const auto wrongAt = [&](auto line, std::string why) {
        return std::unexpected(Error{fmt::format("{}:{}: this is not TOML", name, line), std::move(why),
                                     manual, ExitCode::usage});
    };
    const auto strayAt = [&](auto found) {
        return wrongAt(
            1 + std::count(text.begin(), found, '\n'),
            fmt::format("there is a character with the code {:#04x}", static_cast<unsigned char>(*found)));
    };
    const auto notParsed = [&](const toml::parse_error& error) {
        return wrongAt(error.source().begin.line, std::string(error.description()));
    };
    if (const auto found = findControl(text))
        return strayAt(*found);
    if (const auto ascii = toml::parse(asciiOf(text)); !ascii)
        return notParsed(ascii.error());
    if (const auto found = findStray(text))
        return strayAt(*found);
    auto parsed = toml::parse(text);
    if (!parsed)
        return notParsed(parsed.error());
    return std::move(parsed).table();
}

} // namespace tna::config
