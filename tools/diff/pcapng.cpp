// SPDX-License-Identifier: Apache-2.0
#include "diff/pcapng.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace tna::diff {

namespace {
constexpr std::uint32_t sectionHeader = 0x0a0d0d0a, interfaceBlock = 1, simplePacket = 3, enhancedPacket = 6;
constexpr std::uint32_t orderMagic = 0x1a2b3c4d, pcapMagic = 0xa1b2c3d4, pcapNanoMagic = 0xa1b23c4d;
constexpr std::uint16_t ethernetLink = 1, nameOption = 2;

template <typename T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void pad(std::string& out) {
    out.append((4 - out.size() % 4) % 4, '\0');
}

void block(std::string& out, std::uint32_t type, std::string body) {
    pad(body);
    const auto size = static_cast<std::uint32_t>(body.size() + 12);
    put(out, type);
    put(out, size);
    out += body;
    put(out, size);
}

/// A file's numbers, in its own byte order.
class Bytes {
public:
    explicit Bytes(const std::string& file) : file_(file) {}
    template <typename T>
    [[nodiscard]] T at(std::size_t place) const {
        T value{};
        if (place + sizeof(value) <= file_.size())
            std::memcpy(&value, &file_[place], sizeof(value));
        return swapped_ ? std::byteswap(value) : value;
    }
    [[nodiscard]] std::optional<Frame> frame(std::size_t place, std::size_t size) const {
        if (place > file_.size() || size > file_.size() - place)
            return std::nullopt;
        const auto begin = file_.begin() + static_cast<std::ptrdiff_t>(place);
        return Frame(begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    [[nodiscard]] std::string text(std::size_t place, std::size_t size) const {
        return place < file_.size() ? file_.substr(place, size) : std::string{};
    }
    [[nodiscard]] std::size_t size() const { return file_.size(); }
    void swapUnless(bool same) { swapped_ = !same; }

private:
    const std::string& file_;
    bool swapped_ = false;
};

std::optional<unsigned> portNumber(const std::vector<std::string>& ports, const std::string& name) {
    const auto found = std::ranges::find(ports, name);
    return found == ports.end() ? std::nullopt : std::optional(static_cast<unsigned>(found - ports.begin()));
}

Result<std::vector<Packet>> ofPcap(Bytes bytes, const std::vector<std::string>& ports,
                                   const std::string& port) {
    const auto number = portNumber(ports, port);
    if (!number)
        return fail("there is no port '{}' for the frames of a pcap file", port);
    std::vector<Packet> packets;
    constexpr std::size_t fileHeader = 24, recordHeader = 16;
    for (std::size_t at = fileHeader; at + recordHeader <= bytes.size();) {
        const auto size = bytes.at<std::uint32_t>(at + 8);
        auto frame = bytes.frame(at + recordHeader, size);
        if (!frame)
            return fail("the pcap file ends within a frame");
        packets.push_back({*number, std::move(*frame)});
        at += recordHeader + size;
    }
    return packets;
}

/// The name of an interface block, which may have none.
std::string nameOf(const Bytes& bytes, std::size_t block, std::size_t end) {
    for (std::size_t at = block + 16; at + 4 <= end;) {
        const auto code = bytes.at<std::uint16_t>(at);
        const auto size = bytes.at<std::uint16_t>(at + 2);
        if (code == 0)
            break;
        if (code == nameOption)
            return bytes.text(at + 4, size).c_str();
        at += 4 + (size + 3U) / 4 * 4;
    }
    return {};
}

Result<std::vector<Packet>> ofPcapng(Bytes bytes, const std::vector<std::string>& ports) {
    std::vector<Packet> packets;
    std::vector<std::optional<unsigned>> interfaces;
    for (std::size_t at = 0; at + 12 <= bytes.size();) {
        if (bytes.at<std::uint32_t>(at) == sectionHeader) {
            bytes.swapUnless(true);
            bytes.swapUnless(bytes.at<std::uint32_t>(at + 8) == orderMagic);
            interfaces.clear();
        }
        const auto type = bytes.at<std::uint32_t>(at);
        const auto size = bytes.at<std::uint32_t>(at + 4);
        if (size < 12 || size % 4 != 0 || size > bytes.size() - at)
            return fail("the pcapng file is damaged at byte {}", at);
        if (type == interfaceBlock) {
            const auto name = nameOf(bytes, at, at + size - 4);
            const auto number = static_cast<unsigned>(interfaces.size());
            interfaces.push_back(!name.empty()           ? portNumber(ports, name)
                                 : number < ports.size() ? std::optional(number)
                                                         : std::nullopt);
        }
        if (type == enhancedPacket || type == simplePacket) {
            const bool simple = type == simplePacket;
            const auto interface = simple ? 0 : bytes.at<std::uint32_t>(at + 8);
            const auto length = bytes.at<std::uint32_t>(at + (simple ? 8 : 20));
            auto frame = bytes.frame(at + (simple ? 12 : 28), length);
            if (!frame || interface >= interfaces.size())
                return fail("the pcapng file is damaged at byte {}", at);
            if (!interfaces[interface])
                return fail("frames of interface {} belong to no port", interface);
            packets.push_back({*interfaces[interface], std::move(*frame)});
        }
        at += size;
    }
    return packets;
}
} // namespace

std::string pcapngOf(const std::vector<std::string>& ports, const std::vector<Packet>& packets) {
    std::string out;
    std::string header;
    put(header, orderMagic);
    put(header, std::uint16_t{1});
    put(header, std::uint16_t{0});
    put(header, std::int64_t{-1});
    block(out, sectionHeader, header);
    for (const auto& port : ports) {
        std::string body;
        put(body, ethernetLink);
        put(body, std::uint16_t{0});
        put(body, std::uint32_t{0});
        put(body, nameOption);
        put(body, static_cast<std::uint16_t>(port.size()));
        body += port;
        pad(body);
        put(body, std::uint32_t{0});
        block(out, interfaceBlock, body);
    }
    std::uint32_t number = 0; // in the place of the time: one microsecond for each frame
    for (const auto& [port, frame] : packets) {
        std::string body;
        put(body, static_cast<std::uint32_t>(port));
        put(body, std::uint32_t{0});
        put(body, number++);
        put(body, static_cast<std::uint32_t>(frame.size()));
        put(body, static_cast<std::uint32_t>(frame.size()));
        body.append(frame.begin(), frame.end());
        block(out, enhancedPacket, body);
    }
    return out;
}

Result<std::vector<Packet>> packetsOf(const std::string& file, const std::vector<std::string>& ports,
                                      const std::string& port) {
    Bytes bytes(file);
    if (bytes.at<std::uint32_t>(0) == sectionHeader)
        return ofPcapng(bytes, ports);
    for (const bool same : {true, false}) {
        bytes.swapUnless(same);
        const auto magic = bytes.at<std::uint32_t>(0);
        if (magic == pcapMagic || magic == pcapNanoMagic)
            return ofPcap(bytes, ports, port);
    }
    return fail("neither a pcap nor a pcapng file");
}

} // namespace tna::diff
