// SPDX-License-Identifier: Apache-2.0
#include "api/http.hpp"

#include "api/framing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace tna::api {

namespace {
constexpr const char* headOfLines = "HTTP/1.1 200 OK\r\n"
                                    "Content-Type: application/x-ndjson\r\n"
                                    "Cache-Control: no-store\r\n"
                                    "Connection: close\r\n\r\n";

/// What the library would do more for than is asked of it here. It has no limit for ranges, which may be
/// many, and each the whole answer, nor for what compressed bodies become. Bodies are bodies, whatever their
/// type: forms would have another limit, and become parameters.
constexpr std::array<std::string_view, 4> unheeded{"range", "if-range", "content-type", "content-encoding"};
/// It says so in answers to HEAD all the same.
constexpr std::string_view offersRanges = "Accept-Ranges: bytes\r\n";

thread_local Peer peerOfThisThread;
thread_local std::optional<Stream> streamOfThisThread;

/// A request that is there, an answer that grows.
class Memory : public httplib::Stream {
public:
    explicit Memory(const std::string& request) : request_(request) {}

    [[nodiscard]] bool is_readable() const override { return true; }
    [[nodiscard]] bool is_writable() const override { return true; }
    ssize_t read(char* to, std::size_t size) override {
        size = std::min(size, request_.size() - read_);
        std::memcpy(to, request_.data() + read_, size);
        read_ += size;
        return static_cast<ssize_t>(size);
    }
    ssize_t write(const char* from, std::size_t size) override {
        written_.append(from, size);
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
    void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
    [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }
    [[nodiscard]] std::string written() && {
        const auto at = written_.find(offersRanges);
        if (at < written_.find("\r\n\r\n"))
            written_.erase(at, offersRanges.size());
        return std::move(written_);
    }

private:
    const std::string& request_;
    std::size_t read_ = 0;
    std::string written_;
};
} // namespace

const Peer& Http::peer() {
    return peerOfThisThread;
}

void Http::answerWith(Stream stream) {
    streamOfThisThread = std::move(stream);
}

Answer Http::answer(const Peer& peer, const std::string& request) {
    peerOfThisThread = peer;
    streamOfThisThread.reset();
    const auto heeded = withoutHeaders(request, unheeded);
    Memory memory{heeded};
    bool closed = false;
    const bool good = process_request(memory, false, closed, nullptr);
    if (auto stream = std::exchange(streamOfThisThread, std::nullopt))
        return {headOfLines, true, std::move(*stream)};
    return {std::move(memory).written(), !good || closed};
}

} // namespace tna::api
