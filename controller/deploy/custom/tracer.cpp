// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/tracer.hpp"

#include "trace.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>

namespace tna::deploy {

Result<Tracer> Tracer::load(unsigned oneIn) {
    std::size_t size = 0;
    const auto* bytes = static_cast<const char*>(trace__elf_bytes(&size));
    auto module = ModuleObject::load("trace", std::string(bytes, size), buffersOfKernel());
    if (!module)
        return std::unexpected(module.error());
    const __u32 zero = 0;
    if (bpf_map_update_elem((*module)->mapFd("one_in"), &zero, &oneIn, BPF_ANY) != 0)
        return failErrno(errno, "cannot tell the trace which packets to take");
    auto sink = std::make_unique<Sink>();
    const auto onRecord = [](void* context, void* data, std::size_t length) {
        if (length == sizeof(tna_trace_record))
            (*static_cast<Sink*>(context))(*static_cast<const tna_trace_record*>(data));
        return 0;
    };
    Ring ring{ring_buffer__new((*module)->mapFd("records"), onRecord, sink.get(), nullptr),
              ring_buffer__free};
    if (!ring)
        return failErrno(errno, "cannot read what the trace tells");
    return Tracer{std::move(*module), std::move(sink), std::move(ring)};
}

void Tracer::take(const std::function<void(const tna_trace_record&)>& onRecord) {
    *sink_ = onRecord;
    ring_buffer__consume(ring_.get());
}

std::uint64_t Tracer::lost() const {
    const __u32 zero = 0;
    std::vector<tna_trace_state> perCpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    std::uint64_t sum = 0;
    if (bpf_map_lookup_elem(module_->mapFd("state"), &zero, perCpu.data()) == 0)
        for (const auto& part : perCpu)
            sum += part.lost;
    return sum;
}

} // namespace tna::deploy
