// SPDX-License-Identifier: Apache-2.0
#include "support/fake_function.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

struct tna_function {};

namespace tna::test {

namespace {
constexpr std::size_t pieces = 64, pieceSize = 4096, front = 256;
std::array<std::array<std::uint8_t, pieceSize>, pieces> memory;

std::uint64_t lend() {
    static std::uint64_t last = 0;
    fakeFunction().lent++;
    return ++last % pieces;
}

int leave(std::vector<Frame>& to, const tna_frame& frame) {
    auto& fake = fakeFunction();
    if (fake.room == 0)
        return -EAGAIN;
    fake.room--;
    fake.lent--;
    to.push_back({{frame.data, frame.data + frame.length}});
    return 0;
}
} // namespace

FakeFunction& fakeFunction() {
    static FakeFunction fake;
    return fake;
}

} // namespace tna::test

using tna::test::fakeFunction;

int tna_function_open(tna_function** function, const char* /*name*/,
                      const tna_function_options* /*options*/) {
    *function = std::make_unique<tna_function>().release();
    return 0;
}
void tna_function_close(tna_function* function) {
    const std::unique_ptr<tna_function> owned{function};
}
const char* tna_function_why(const tna_function* /*function*/) {
    return "";
}
std::uint64_t tna_function_connections(const tna_function* /*function*/) {
    return 1;
}
int tna_function_receive(tna_function* /*function*/, tna_frame* frames, unsigned /*most*/, int /*time*/) {
    int count = 0;
    for (const auto& frame : std::exchange(fakeFunction().toReceive, {})) {
        const auto piece = tna::test::lend();
        auto* data = tna::test::memory.at(piece).data() + tna::test::front;
        std::ranges::copy(frame.bytes, data);
        frames[count++] = {data, static_cast<std::uint32_t>(frame.bytes.size()), 0, 0, piece};
    }
    return count;
}
int tna_function_send(tna_function* /*function*/, const tna_frame* frame, unsigned /*port*/) {
    return tna::test::leave(fakeFunction().sent, *frame);
}
int tna_function_give_back(tna_function* /*function*/, const tna_frame* frame) {
    return tna::test::leave(fakeFunction().givenBack, *frame);
}
void tna_function_drop(tna_function* /*function*/, const tna_frame* /*frame*/) {
    fakeFunction().dropped++;
    fakeFunction().lent--;
}
int tna_function_new_frame(tna_function* /*function*/, tna_frame* frame) {
    if (fakeFunction().places == 0)
        return -EAGAIN;
    fakeFunction().places--;
    const auto piece = tna::test::lend();
    *frame = {tna::test::memory.at(piece).data() + tna::test::front, 0, 0, 0, piece};
    return 0;
}
int tna_function_room(const tna_function* /*function*/, const tna_frame* frame, std::uint32_t* before,
                      std::uint32_t* end) {
    *before = static_cast<std::uint32_t>(frame->data - tna::test::memory.at(frame->id).data());
    *end = static_cast<std::uint32_t>(tna::test::pieceSize - *before - frame->length);
    return 0;
}
void tna_function_flush(tna_function* /*function*/) {}
unsigned tna_function_ports(const tna_function* /*function*/) {
    return 1;
}
const char* tna_function_port_name(const tna_function* /*function*/, unsigned /*port*/) {
    return nullptr;
}
void tna_function_count(const tna_function* /*function*/, tna_function_counts* counts) {
    *counts = {};
}
