// SPDX-License-Identifier: Apache-2.0
#include "capture_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tna::recorder {

namespace {
constexpr std::size_t gathered = std::size_t{1} << 20U; ///< bytes that are written at once
constexpr std::string_view suffix = ".pcapng";

// https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html
enum BlockType : std::uint32_t { sectionHeader = 0x0a0d0d0a, interfaceDescription = 1, enhancedPacket = 6 };
constexpr std::uint32_t byteOrder = 0x1a2b3c4d;
constexpr std::uint16_t ethernet = 1;
constexpr std::uint16_t nameOption = 2;
constexpr std::uint16_t resolutionOption = 9;

template <typename T>
void put(std::vector<std::uint8_t>& bytes, T value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof(value));
    std::memcpy(&bytes[at], &value, sizeof(value));
}

void pad(std::vector<std::uint8_t>& bytes) {
    bytes.resize((bytes.size() + 3) & ~std::size_t{3});
}

/// Adds a block whose inside `fill` puts there.
template <typename Fill>
void putBlock(std::vector<std::uint8_t>& bytes, BlockType type, Fill fill) {
    const auto begin = bytes.size();
    put<std::uint32_t>(bytes, type);
    put<std::uint32_t>(bytes, 0);
    fill();
    pad(bytes);
    const auto length = static_cast<std::uint32_t>(bytes.size() - begin + sizeof(std::uint32_t));
    std::memcpy(&bytes[begin + sizeof(std::uint32_t)], &length, sizeof(length));
    put(bytes, length);
}

void putOption(std::vector<std::uint8_t>& bytes, std::uint16_t code, std::span<const std::uint8_t> value) {
    put(bytes, code);
    put(bytes, static_cast<std::uint16_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
    pad(bytes);
}

std::vector<std::uint8_t> headOf(const Target& target) {
    std::vector<std::uint8_t> bytes;
    putBlock(bytes, sectionHeader, [&] {
        put(bytes, byteOrder);
        put<std::uint16_t>(bytes, 1);
        put<std::uint16_t>(bytes, 0);
        put<std::int64_t>(bytes, -1); // how long the section is, is not said
    });
    for (const auto& port : target.ports)
        putBlock(bytes, interfaceDescription, [&] {
            put(bytes, ethernet);
            put<std::uint16_t>(bytes, 0);
            put<std::uint32_t>(bytes, target.most);
            putOption(bytes, nameOption, {reinterpret_cast<const std::uint8_t*>(port.data()), port.size()});
            const std::uint8_t nanoseconds = 9;
            putOption(bytes, resolutionOption, {&nanoseconds, 1});
            putOption(bytes, 0, {});
        });
    return bytes;
}

std::string pathOf(const Target& target, unsigned number) {
    if (target.files == 1)
        return target.path;
    auto stem = target.path;
    if (stem.ends_with(suffix))
        stem.resize(stem.size() - suffix.size());
    return fmt::format("{}-{}{}", stem, number, suffix);
}
} // namespace

Result<CaptureFile> CaptureFile::create(Target target) {
    CaptureFile file{std::move(target)};
    if (auto opened = file.open(0); !opened)
        return std::unexpected(opened.error());
    return file;
}

Result<void> CaptureFile::open(unsigned number) {
    const auto path = pathOf(target_, number);
    UniqueFd fresh{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640)};
    if (!fresh)
        return failErrno(errno, "cannot write {}", path);
    file_ = std::move(fresh);
    number_ = number;
    length_ = 0;
    if (!writeHead())
        return failErrno(error_, "cannot write {}", path);
    return {};
}

/// If it is not there yet: nobody could read what is in a file without it.
bool CaptureFile::writeHead() {
    return length_ != 0 || writeAll(headOf(target_));
}

/// All of it or nothing: half a block would spoil what comes behind it.
bool CaptureFile::writeAll(std::span<const std::uint8_t> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto wrote = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
        if (wrote > 0) {
            done += static_cast<std::size_t>(wrote);
            continue;
        }
        if (wrote < 0 && errno == EINTR)
            continue;
        error_ = wrote < 0 ? errno : ENOSPC;
        if (::ftruncate(file_.get(), static_cast<off_t>(length_)) == 0)
            (void)::lseek(file_.get(), static_cast<off_t>(length_), SEEK_SET);
        return false;
    }
    length_ += bytes.size();
    return true;
}

void CaptureFile::flush() {
    if (pending_.empty())
        return;
    if (file_ && writeHead() && writeAll(pending_))
        written_ += frames_;
    else
        lost_ += frames_;
    pending_.clear();
    frames_ = 0;
}

void CaptureFile::next() {
    flush();
    if (target_.files == 1)
        return;
    if (auto opened = open((number_ + 1) % target_.files); !opened)
        error_ = opened.error().number;
}

void CaptureFile::add(std::span<const std::uint8_t> frame, unsigned port,
                      std::chrono::nanoseconds since1970) {
    const auto stored = frame.first(std::min<std::size_t>(frame.size(), target_.most));
    const auto time = static_cast<std::uint64_t>(since1970.count());
    if (target_.size != 0 && length_ + pending_.size() + stored.size() > target_.size) {
        next();
        if (target_.files == 1 && length_ + stored.size() > target_.size) {
            lost_++;
            error_ = EFBIG;
            return;
        }
    }
    putBlock(pending_, enhancedPacket, [&] {
        put<std::uint32_t>(pending_, port);
        put(pending_, static_cast<std::uint32_t>(time >> 32U));
        put(pending_, static_cast<std::uint32_t>(time));
        put(pending_, static_cast<std::uint32_t>(stored.size()));
        put(pending_, static_cast<std::uint32_t>(frame.size()));
        pending_.insert(pending_.end(), stored.begin(), stored.end());
    });
    frames_++;
    if (pending_.size() >= gathered)
        flush();
}

} // namespace tna::recorder
