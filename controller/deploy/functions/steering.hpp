// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/custom/module_object.hpp"
#include "functions/steering_table.hpp"

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

    /// Frames of this queue go to this socket from now on. `page` is the map where the function says how many
    /// places it has made.
    [[nodiscard]] Result<void> connect(const tna_steer_queue_key& key, const tna_steer_queue& queue,
                                       int socket, int page) const;
    /// What is not there needs no taking out.
    void disconnect(const tna_steer_queue_key& key, unsigned place) const;

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
    /// Until no frame is looked up in the table of before any more.
    [[nodiscard]] Result<void> waitForReaders() const;

    std::shared_ptr<const ModuleObject> module_;
    tna_steer_entry* entries_; ///< of both tables
    std::uint64_t* cells_;
    tna_steer_tables tables_{};
};

/// A page where a function says how many places for frames there are: none, to begin with.
[[nodiscard]] Result<UniqueFd> makeFunctionPage();
/// What it has said there.
[[nodiscard]] std::uint64_t placesOn(int page);

} // namespace tna::deploy
