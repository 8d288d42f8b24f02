// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/custom/module_object.hpp"

#include <functional>
#include <tna/trace.h>

struct ring_buffer;

namespace tna::deploy {

/// A custom module of our own, which tells about one packet in so many.
class Tracer {
public:
    [[nodiscard]] static Result<Tracer> load(unsigned oneIn);

    [[nodiscard]] const std::shared_ptr<const ModuleObject>& module() const { return module_; }
    /// What there is by now, in the order of each CPU.
    void take(const std::function<void(const tna_trace_record&)>& onRecord);
    /// Packets of which nothing is told, because there was no room.
    [[nodiscard]] std::uint64_t lost() const;

private:
    using Sink = std::function<void(const tna_trace_record&)>;
    using Ring = std::unique_ptr<ring_buffer, void (*)(ring_buffer*)>;
    Tracer(std::shared_ptr<const ModuleObject> module, std::unique_ptr<Sink> sink, Ring ring)
        : module_(std::move(module)), sink_(std::move(sink)), ring_(std::move(ring)) {}

    std::shared_ptr<const ModuleObject> module_;
    std::unique_ptr<Sink> sink_; ///< of the moment; at a place that stays
    Ring ring_;
};

} // namespace tna::deploy
