// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/steering.hpp"

#include "steer.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tna::deploy {

namespace {
constexpr std::size_t tableBytes = sizeof(tna_steer_entry) * TNA_STEER_ENTRIES;
}

Result<UniqueFd> makeFunctionPage() {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
    UniqueFd page{
        bpf_map_create(BPF_MAP_TYPE_ARRAY, "tna_page", sizeof(__u32), sizeof(tna_steer_page), 1, &options)};
    if (!page)
        return failErrno(errno, "cannot make the page that a network function writes");
    return page;
}

std::uint64_t placesOn(int page) {
    const __u32 zero = 0;
    tna_steer_page said{};
    return bpf_map_lookup_elem(page, &zero, &said) == 0 ? said.places : 0;
}

Result<std::unique_ptr<Steering>> Steering::load() {
    std::size_t size = 0;
    const auto* bytes = static_cast<const char*>(steer__elf_bytes(&size));
    auto module = ModuleObject::load("steer", std::string(bytes, size), buffersOfKernel());
    if (!module)
        return std::unexpected(
            std::move(module.error()).withHint("network functions need Linux 6.4 or newer"));
    auto* entries = ::mmap(nullptr, 2 * tableBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           (*module)->mapFd("steer_entries"), 0);
    if (entries == MAP_FAILED)
        return failErrno(errno, "cannot write the rules of network functions");
    return std::unique_ptr<Steering>(
        new Steering(std::move(*module), static_cast<tna_steer_entry*>(entries)));
}

Steering::~Steering() {
    ::munmap(entries_, 2 * tableBytes);
}

Result<void> Steering::write(const char* map, const void* key, const void* value, const char* what) const {
    if (bpf_map_update_elem(module_->mapFd(map), key, value, BPF_ANY) != 0)
        return failErrno(errno, "cannot {}", what);
    return {};
}

/// The kernel waits for running programs after it has changed a map of maps (maybe_wait_bpf_programs()).
Result<void> Steering::waitForReaders() const {
    auto page = makeFunctionPage();
    if (!page)
        return std::unexpected(page.error());
    constexpr __u32 place = TNA_STEER_PLACES - 1; // nobody's
    const int fd = page->get();
    auto written = write("steer_pages", &place, &fd, "wait for frames that are looked up");
    if (written)
        (void)bpf_map_delete_elem(module_->mapFd("steer_pages"), &place);
    return written;
}

Result<void> Steering::replace(const functions::SteeringTable& table) {
    const __u32 zero = 0;
    const __u32 other = 1 - half_;
    if (!table.entries.empty())
        std::memcpy(entries_ + std::size_t{other} * TNA_STEER_ENTRIES, table.entries.data(), tableBytes);
    constexpr const char* what = "put the rules of network functions in place";
    if (auto written = write("steer_tables", &other, &table.masks, what); !written)
        return written;
    if (auto written = write("steer_current", &zero, &other, what); !written)
        return written;
    half_ = other;
    return waitForReaders();
}

Result<void> Steering::setFunction(unsigned number, const tna_steer_function& function) const {
    return write("steer_functions", &number, &function, "tell the fast path of a network function");
}

Result<void> Steering::connect(const tna_steer_queue_key& key, const tna_steer_queue& queue, int socket,
                               int page) const {
    constexpr const char* what = "connect a network function's socket";
    for (const auto& written :
         {write("steer_pages", &queue.place, &page, what),
          write("steer_sockets", &queue.place, &socket, what), write("steer_queues", &key, &queue, what)})
        if (!written) {
            auto error = written.error();
            disconnect(key, queue.place);
            return std::unexpected(std::move(error));
        }
    return {};
}

void Steering::disconnect(const tna_steer_queue_key& key, unsigned place) const {
    (void)bpf_map_delete_elem(module_->mapFd("steer_queues"), &key);
    (void)bpf_map_delete_elem(module_->mapFd("steer_sockets"), &place);
    (void)bpf_map_delete_elem(module_->mapFd("steer_pages"), &place);
}

tna_steer_counters Steering::counters(unsigned rule) const {
    std::vector<tna_steer_counters> perCpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    tna_steer_counters sum{};
    if (bpf_map_lookup_elem(module_->mapFd("steer_counters"), &rule, perCpu.data()) == 0)
        for (const auto& part : perCpu) {
            sum.packets += part.packets;
            sum.bytes += part.bytes;
            sum.otherwise += part.otherwise;
        }
    return sum;
}

void Steering::forgetCounters(unsigned rule) const {
    const std::vector<tna_steer_counters> none(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    (void)bpf_map_update_elem(module_->mapFd("steer_counters"), &rule, none.data(), BPF_ANY);
}

std::optional<QueueCounters> Steering::counters(const tna_steer_queue_key& key) const {
    QueueCounters counters{};
    if (bpf_map_lookup_elem(module_->mapFd("steer_queues"), &key, &counters) != 0)
        return std::nullopt;
    return counters;
}

} // namespace tna::deploy
