// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

namespace tna::test {

/// Spoils sequences of bytes in the ways in which input is spoilt, the same ones in every run.
class Mangler {
public:
    explicit Mangler(unsigned seed) : random_(seed) {}

    /// Below `limit`, which is not 0.
    [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }

    /// Between one and eight faults.
    template <typename Byte>
    [[nodiscard]] std::vector<Byte> mangle(std::vector<Byte> bytes) {
        for (std::size_t faults = 1 + below(8); faults > 0 && !bytes.empty(); faults--)
            fault(bytes);
        return bytes;
    }

private:
    template <typename Byte>
    void fault(std::vector<Byte>& bytes) {
        const std::size_t at = below(bytes.size());
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t length = 1 + below(std::min<std::size_t>(16, bytes.size() - at));
        const auto end = place + static_cast<std::ptrdiff_t>(length);
        switch (below(7)) {
        case 0: // a bit
            *place = static_cast<Byte>(static_cast<unsigned char>(*place) ^ 1U << below(8));
            break;
        case 1: // a byte
            *place = static_cast<Byte>(random_());
            break;
        case 2: // an extreme
            *place = static_cast<Byte>(below(2) == 0 ? 0 : 0xff);
            break;
        case 3:
            bytes.resize(at);
            break;
        case 4:
            bytes.erase(place, end);
            break;
        case 5: { // again
            const std::vector<Byte> piece(place, end);
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), piece.begin(),
                         piece.end());
            break;
        }
        default: // foreign bytes
            for (auto it = place; it != end; ++it)
                *it = static_cast<Byte>(random_());
        }
    }

    std::mt19937 random_;
};

} // namespace tna::test
