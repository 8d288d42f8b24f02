// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace tna::api {

/// Lines on their way to somebody who follows a stream: written by whoever has something to tell, without
/// waiting, and sent by the server. Safe to use from several threads.
class LineSink {
public:
    /// What may wait to be sent: more than a reader is behind for a moment, less than would hurt.
    static constexpr std::size_t room = std::size_t{256} * 1024;

    /// False if there is no room, or nobody reads any more. The line has no end of its own.
    bool put(std::string_view line);
    /// After what was written, the connection is closed.
    void close();

    // For the server: what is to be sent, and who is to be told that there is something.
    [[nodiscard]] std::string take();
    [[nodiscard]] bool waiting() const;
    [[nodiscard]] bool closed() const;
    void onLine(std::function<void()> wake);

private:
    mutable std::mutex mutex_;
    std::string pending_;
    bool closed_ = false;
    std::function<void()> wake_;
};

} // namespace tna::api
