// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::ctl {

/// Rows of text in aligned columns; columns whose cells are all numbers align to the right.
class Table {
public:
    explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// 1234567 -> "1.23 M"
[[nodiscard]] std::string human(double number);

} // namespace tna::ctl
