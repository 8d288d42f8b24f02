// SPDX-License-Identifier: Apache-2.0
#include "wires/fence.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>

namespace tna::wires {

namespace {
/// Each device that a frame goes through takes one turn; the longest way is through six.
constexpr unsigned turns = 16;
constexpr int patience = 20000; ///< milliseconds

Frame post(unsigned number) {
    Frame frame(60);
    frame[0] = frame[6] = 2;
    frame[12] = 0x88;
    frame[13] = 0xb5;
    frame[14] = static_cast<std::uint8_t>(number);
    return frame;
}
} // namespace

Result<Fence> Fence::make() {
    auto in = Wire::end("fence0");
    auto out = Wire::end("fence1");
    if (!in || !out)
        return std::unexpected(!in ? in.error() : out.error());
    Fence fence(std::move(*in), std::move(*out));
    // Until the kernel has noticed that the link is up, it throws frames away.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience);
    while (!fence.comesOut(turns, 10))
        if (std::chrono::steady_clock::now() > deadline)
            return fail("the fence's own link does not come up");
    if (auto passed = fence.pass(); !passed)
        return std::unexpected(passed.error());
    return fence;
}

bool Fence::comesOut(unsigned number, int milliseconds) const {
    int error = in_.send(post(number));
    for (unsigned i = 0; i < 100 && error == ENOBUFS; i++) { // the CPU's backlog is full of what others send
        ::poll(nullptr, 0, 1);
        error = in_.send(post(number));
    }
    if (error != 0)
        return false;
    while (out_.waits(milliseconds)) {
        const auto arrived = out_.drain();
        if (arrived && std::ranges::find(*arrived, post(number)) != arrived->end())
            return true;
    }
    return false;
}

Result<void> Fence::pass() const {
    for (unsigned i = 0; i < turns; i++)
        if (!comesOut(i, patience))
            return fail("the fence's own frame was lost");
    return {};
}

} // namespace tna::wires
