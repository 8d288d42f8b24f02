// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/custom/module_object.hpp"
#include "functions/steering_table.hpp"

#include <map>
#include <tna/steer.h>

namespace tna::deploy {

/// What the fast path has counted of a socket.
using QueueCounters = tna_steer_queue;

/// The custom module of our own that steers frames to network functions (fpm/steer), and what it is told.
class Steering {
public:
    [[nodiscard]] static Result<std::unique_ptr<Steering>> load();
    Steering(const Steering&) = delete;
    Steering& operator=(const Steering&) = delete;
    ~Steering();

    [[nodiscard]] const std::shared_ptr<const ModuleObject>& module() const { return module_; }

    /// All rules at once: each frame is treated by those of before, or by these.
    [[nodiscard]] Result<void> replace(const functions::SteeringTable& table);
    [[nodiscard]] Result<void> setFunction(unsigned number, const tna_steer_function& function) const;

    /// A page for who is connected at this place, where it says how many places for frames it has made: one
    /// that lies there already and nobody has had, or this one, which the kernel takes its time to put there.
    [[nodiscard]] Result<UniqueFd> takePage(unsigned place, UniqueFd page);
    /// Frames of this queue go to this socket from now on. The place has its page.
    [[nodiscard]] Result<void> connect(const tna_steer_queue_key& key, const tna_steer_queue& queue,
                                       int socket);
    /// What is not there needs no taking out.
    void disconnect(const tna_steer_queue_key& key, unsigned place);

    [[nodiscard]] tna_steer_counters counters(unsigned rule) const;
    void forgetCounters(unsigned rule) const;
    [[nodiscard]] std::optional<QueueCounters> counters(const tna_steer_queue_key& key) const;

private:
    Steering(std::shared_ptr<const ModuleObject> module, tna_steer_entry* entries, std::uint64_t* cells)
        : module_(std::move(module)), entries_(entries), cells_(cells) {}
    /// Where a queue's socket may be named, in the order in which it is looked for.
    [[nodiscard]] std::vector<std::uint64_t*> cellsOf(const tna_steer_queue_key& key) const;
    [[nodiscard]] std::uint64_t* cellOf(const tna_steer_queue_key& key) const; ///< null: it has no socket
    [[nodiscard]] Result<void> write(const char* map, const void* key, const void* value,
                                     const char* what) const;
    /// Puts a page at a place. Returns when nobody looks at what was there, nor at a table of before.
    [[nodiscard]] Result<void> putPage(unsigned place, int page) const;
    [[nodiscard]] Result<void> preparePage(unsigned place);

    std::shared_ptr<const ModuleObject> module_;
    tna_steer_entry* entries_; ///< of both tables
    std::uint64_t* cells_;
    tna_steer_tables tables_{};
    std::map<unsigned, UniqueFd> pages_; ///< by place; without a descriptor, somebody has it
};

/// A page where a function says how many places for frames there are: none, to begin with.
[[nodiscard]] Result<UniqueFd> makeFunctionPage();
/// What it has said there.
[[nodiscard]] std::uint64_t placesOn(int page);

} // namespace tna::deploy
