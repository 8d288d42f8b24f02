// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bpf/searches.h"

#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <tna/fastpath.h>

#include "searches.skel.h"
#include "searches_typed.skel.h"

namespace tna::test {

inline constexpr std::uint64_t doubt = ~0ULL;
inline constexpr std::uint64_t key = 0x11;

/// Objects of the kernel's kinds, in memory that the program reads as if it was the kernel's.
class Searches {
public:
    /// Whichever of the two this kernel takes.
    static std::unique_ptr<Searches> load() {
        if (auto untyped = tryLoad<::searches>())
            return untyped;
        return tryLoad<::searches_typed>();
    }
    /// Room for an object, by the address that the program knows it by.
    [[nodiscard]] std::uint64_t take(std::size_t bytes = 64) {
        const auto at = used_;
        used_ += (bytes + 7) / 8;
        EXPECT_LE(used_, MEMORY_WORDS);
        return address_ + 8 * at;
    }
    template <typename T>
    void put(std::uint64_t object, place field, T value) {
        put(object + state_->places[field], value);
    }
    template <typename T>
    void put(std::uint64_t at, T value) {
        std::memcpy(reinterpret_cast<char*>(&state_->memory[0]) + (at - address_), &value, sizeof(value));
    }
    [[nodiscard]] std::uint64_t inside(std::uint64_t object, place field) const {
        return object + state_->places[field];
    }
    [[nodiscard]] std::uint64_t ask(kind what, std::uint64_t where, std::uint64_t wanted = key) {
        state_->kind = what;
        state_->where = where;
        state_->key = wanted;
        run();
        return state_->answer;
    }

private:
    template <typename Generated>
    static std::unique_ptr<Searches> tryLoad() {
        std::shared_ptr<Generated> skeleton{Generated::open_and_load(),
                                            [](auto* object) { Generated::destroy(object); }};
        if (!skeleton)
            return nullptr;
        auto made = std::make_unique<Searches>();
        made->program_ = bpf_program__fd(skeleton->progs.ask);
        made->state_ = &skeleton->bss->state;
        made->run();
        made->address_ = made->state_->memory_address;
        made->skeleton_ = std::move(skeleton);
        return made;
    }
    void run() const {
        std::array<char, 64> frame{};
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                    .repeat = 1);
        ASSERT_EQ(bpf_prog_test_run_opts(program_, &options), 0);
    }

    std::shared_ptr<void> skeleton_;
    int program_ = -1;
    searches_state* state_ = nullptr;
    std::uint64_t address_ = 0;
    std::size_t used_ = 0;
};

struct Question {
    kind what;
    std::uint64_t where;
    std::uint64_t wanted;         ///< what is to be found, by address
    std::uint64_t beyond = doubt; ///< what is said of what is too far away
};

} // namespace tna::test
