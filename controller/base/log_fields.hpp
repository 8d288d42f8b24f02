// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tna {

/// What messages are about, for programs that read the journal: fields beside the sentence, while this lives,
/// of all messages of this thread.
class LogFields {
public:
    using Fields = std::vector<std::pair<const char*, std::string>>;
    LogFields(std::initializer_list<Fields::value_type> fields) : before_(current().size()) {
        current().insert(current().end(), fields);
    }
    ~LogFields() { current().resize(before_); }
    LogFields(const LogFields&) = delete;
    LogFields& operator=(const LogFields&) = delete;

    [[nodiscard]] static Fields& current() {
        thread_local Fields fields;
        return fields;
    }

private:
    std::size_t before_;
};

} // namespace tna
