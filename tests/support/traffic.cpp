// SPDX-License-Identifier: Apache-2.0
#include "support/traffic.hpp"

#include "support/eventually.hpp"

namespace tna::test {

Traffic::Traffic(const PacketPort& port, Frame first) : first_(std::move(first)) {
    thread_ = std::thread([this, &port] {
        while (!stopped_ && sent_ < 0xffff) {
            port.send(numbered(sent_));
            sent_++;
            ::poll(nullptr, 0, 1);
        }
    });
}

void Traffic::stop() {
    stopped_ = true;
    if (thread_.joinable())
        thread_.join();
}

void Traffic::waitFor(std::uint16_t more) const {
    const unsigned goal = sent_ + more;
    eventually([&] { return sent_ >= goal; }, std::chrono::seconds(30));
}

Frame Traffic::numbered(std::uint16_t number) const {
    auto frame = first_;
    frame.bytes[frame.bytes.size() - 2] = static_cast<std::uint8_t>(number >> 8U);
    frame.bytes[frame.bytes.size() - 1] = static_cast<std::uint8_t>(number);
    return frame;
}

std::optional<std::uint16_t> Traffic::numberOf(const Frame& frame) const {
    if (frame.bytes.size() != first_.bytes.size())
        return std::nullopt;
    const auto number = static_cast<std::uint16_t>(frame.bytes[frame.bytes.size() - 2] << 8U |
                                                   frame.bytes[frame.bytes.size() - 1]);
    return frame == numbered(number) && number < sent_ ? std::optional(number) : std::nullopt;
}

} // namespace tna::test
