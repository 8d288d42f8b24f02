// SPDX-License-Identifier: Apache-2.0
#include "api/line_sink.hpp"

#include <utility>

namespace tna::api {

bool LineSink::put(std::string_view line) {
    const std::lock_guard lock{mutex_};
    if (closed_ || pending_.size() + line.size() >= room)
        return false;
    const bool first = pending_.empty();
    pending_ += line;
    pending_ += '\n';
    if (first && wake_)
        wake_();
    return true;
}

void LineSink::close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    if (wake_)
        wake_();
}

std::string LineSink::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(pending_, {});
}

bool LineSink::waiting() const {
    const std::lock_guard lock{mutex_};
    return !pending_.empty();
}

bool LineSink::closed() const {
    const std::lock_guard lock{mutex_};
    return closed_;
}

void LineSink::onLine(std::function<void()> wake) {
    const std::lock_guard lock{mutex_};
    wake_ = std::move(wake);
}

} // namespace tna::api
