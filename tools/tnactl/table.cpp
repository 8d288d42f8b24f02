// SPDX-License-Identifier: Apache-2.0
#include "tnactl/table.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tna::ctl {

namespace {
bool numeric(const std::string& cell) {
    return cell.empty() || cell == "-" || (cell.front() >= '0' && cell.front() <= '9');
}
} // namespace

std::string Table::text() const {
    const auto columns = rows_.front().size();
    std::vector<std::size_t> widths(columns, 0);
    std::vector<bool> right(columns, true);
    for (std::size_t r = 0; r < rows_.size(); r++)
        for (std::size_t c = 0; c < columns && c < rows_[r].size(); c++) {
            widths[c] = std::max(widths[c], widthOf(rows_[r][c]));
            right[c] = right[c] && (r == 0 || numeric(rows_[r][c]));
        }
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t c = 0; c < columns && c < row.size(); c++) {
            const std::string room(widths[c] - widthOf(row[c]), ' ');
            line += (right[c] ? room + row[c] : row[c] + room) + "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string human(double number) {
    static constexpr std::array units{"", " k", " M", " G", " T"};
    std::size_t unit = 0;
    while (number >= 1000 && unit + 1 < units.size()) {
        number /= 1000;
        unit++;
    }
    return unit == 0 ? fmt::format("{:.0f}", number) : fmt::format("{:.2f}{}", number, units[unit]);
}

} // namespace tna::ctl
