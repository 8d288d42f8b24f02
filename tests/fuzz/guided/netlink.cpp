// SPDX-License-Identifier: Apache-2.0
// Netlink messages, through every decoder.
#include "fuzz/guided/target.hpp"
#include "fuzz/introspect/messages.hpp"

namespace tna::fuzz {

std::vector<std::string> seeds() {
    std::vector<std::string> all;
    for (const auto& message : test::sampleMessages())
        all.emplace_back(reinterpret_cast<const char*>(message.data()), message.size());
    return all;
}

void prepare() {}

void run(const std::uint8_t* data, std::size_t size) {
    netlink::Bytes rest(reinterpret_cast<const std::byte*>(data), size);
    while (const auto message = netlink::Message::next(rest)) {
        const auto decoded = test::decodeAsEverything(*message);
        require(decoded.wrong.empty(), decoded.wrong);
    }
}

} // namespace tna::fuzz
