// SPDX-License-Identifier: Apache-2.0
#include "tnactl/pcap.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace tna::ctl {

namespace {
constexpr std::uint32_t magicOfNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t ethernet = 1;
constexpr std::uint32_t longest = 65535;
constexpr std::int64_t second = 1'000'000'000;

struct FileHeader {
    std::uint32_t magic;
    std::uint16_t major;
    std::uint16_t minor;
    std::uint32_t zone;
    std::uint32_t accuracy;
    std::uint32_t longest;
    std::uint32_t link;
};

struct PacketHeader {
    std::uint32_t seconds;
    std::uint32_t nanoseconds;
    std::uint32_t here;
    std::uint32_t length;
};

std::vector<std::uint8_t> bytesOf(const std::string& hex) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        std::uint8_t byte = 0;
        std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
        bytes.push_back(byte);
    }
    return bytes;
}
} // namespace

Result<Pcap> Pcap::create(const std::string& path) {
    File file{std::fopen(path.c_str(), "wbe"), std::fclose};
    const FileHeader header{magicOfNanoseconds, 2, 4, 0, 0, longest, ethernet};
    if (!file || std::fwrite(&header, sizeof(header), 1, file.get()) != 1 || std::fflush(file.get()) != 0)
        return failErrno(errno, "cannot write {}", path);
    return Pcap{std::move(file)};
}

bool Pcap::write(const nlohmann::json& document) {
    const auto bytes = bytesOf(document.at("packet").at("head").get<std::string>());
    const auto at = document.at("time_ns").get<std::int64_t>();
    const PacketHeader header{
        static_cast<std::uint32_t>(at / second), static_cast<std::uint32_t>(at % second),
        static_cast<std::uint32_t>(bytes.size()), document.at("length").get<std::uint32_t>()};
    return std::fwrite(&header, sizeof(header), 1, file_.get()) == 1 &&
           std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size() &&
           std::fflush(file_.get()) == 0;
}

} // namespace tna::ctl
