// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/steering.hpp"

#include "steer.skel.h"

#include <algorithm>
#include <atomic>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tna::deploy {

namespace {
constexpr std::size_t tableBytes = sizeof(tna_steer_entry) * TNA_STEER_ENTRIES;
constexpr std::size_t cellBytes = sizeof(std::uint64_t) * TNA_STEER_CELLS;
constexpr unsigned mostPrepared = 16; ///< pages that nobody has asked for yet, of 4 kB

void* mapped(int map, std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
}
} // namespace

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
    auto* entries = mapped((*module)->mapFd("steer_entries"), 2 * tableBytes);
    auto* cells = mapped((*module)->mapFd("steer_cells"), cellBytes);
    // Where one of them is there, it stays until this process ends, as this does not happen twice.
    if (entries == MAP_FAILED || cells == MAP_FAILED)
        return failErrno(errno, "cannot write the rules of network functions");
    return std::unique_ptr<Steering>(new Steering(std::move(*module), static_cast<tna_steer_entry*>(entries),
                                                  static_cast<std::uint64_t*>(cells)));
}

Steering::~Steering() {
    ::munmap(entries_, 2 * tableBytes);
    ::munmap(cells_, cellBytes);
}

std::vector<std::uint64_t*> Steering::cellsOf(const tna_steer_queue_key& key) const {
    const auto wanted = TNA_STEER_CELL(key.ifindex, key.queue, 0U);
    std::vector<std::uint64_t*> found;
    for (std::uint32_t step = 0; step < TNA_STEER_CELL_STEPS; step++)
        found.push_back(&cells_[(TNA_STEER_CELL_HASH(wanted) + step) % TNA_STEER_CELLS]);
    return found;
}

std::uint64_t* Steering::cellOf(const tna_steer_queue_key& key) const {
    const auto cells = cellsOf(key);
    const auto it = std::ranges::find_if(cells, [&](const auto* cell) {
        return *cell >> 16U == TNA_STEER_CELL(key.ifindex, key.queue, 0U) >> 16U;
    });
    return it == cells.end() ? nullptr : *it;
}

Result<void> Steering::write(const char* map, const void* key, const void* value, const char* what) const {
    if (bpf_map_update_elem(module_->mapFd(map), key, value, BPF_ANY) != 0)
        return failErrno(errno, "cannot {}", what);
    return {};
}

/// The kernel waits for running programs after it has changed a map of maps (maybe_wait_bpf_programs()): tens
/// of milliseconds on a machine that has much to do.
Result<void> Steering::putPage(unsigned place, int page) const {
    return write("steer_pages", &place, &page, "give a network function its page");
}

/// So nobody who connects waits for that.
Result<void> Steering::preparePage(unsigned place) {
    auto page = makeFunctionPage();
    if (!page)
        return std::unexpected(page.error());
    if (auto put = putPage(place, page->get()); !put)
        return put;
    pages_[place] = std::move(*page);
    return {};
}

Result<UniqueFd> Steering::takePage(unsigned place, UniqueFd page) {
    auto& prepared = pages_[place];
    if (prepared)
        return std::move(prepared);
    if (auto put = putPage(place, page.get()); !put)
        return std::unexpected(put.error());
    return page;
}

Result<void> Steering::replace(const functions::SteeringTable& table) {
    const __u32 zero = 0;
    const __u32 other = 1 - tables_.current;
    if (!table.entries.empty())
        std::memcpy(entries_ + std::size_t{other} * TNA_STEER_ENTRIES, table.entries.data(), tableBytes);
    tables_.of[other] = table.masks;
    constexpr const char* what = "put the rules of network functions in place";
    // First the table, then that it is the one in use: what is in use is written as it is.
    if (auto written = write("steer_tables", &zero, &tables_, what); !written)
        return written;
    tables_.current = other;
    if (auto written = write("steer_tables", &zero, &tables_, what); !written) {
        tables_.current = 1 - other;
        return written;
    }
    // Where a page is needed next; or at the last place, which is nobody's: what counts is the wait.
    unsigned place = 0;
    while (pages_.contains(place) && place < mostPrepared)
        place++;
    return preparePage(place < mostPrepared ? place : TNA_STEER_PLACES - 1);
}

Result<void> Steering::setFunction(unsigned number, const tna_steer_function& function) const {
    return write("steer_functions", &number, &function, "tell the fast path of a network function");
}

Result<void> Steering::connect(const tna_steer_queue_key& key, const tna_steer_queue& queue, int socket) {
    constexpr const char* what = "connect a network function's socket";
    const auto cells = cellsOf(key);
    const auto free = std::ranges::find_if(
        cells, [](const auto* cell) { return *cell == 0 || *cell == TNA_STEER_CELL_USED; });
    if (free == cells.end())
        return fail("cannot {}: there is no room for its queue", what);
    for (const auto& written : {write("steer_sockets", &queue.place, &socket, what),
                                write("steer_queues", &queue.place, &queue, what)})
        if (!written) {
            auto error = written.error();
            disconnect(key, queue.place);
            return std::unexpected(std::move(error));
        }
    // All at once, and last: it is found from now on.
    std::atomic_ref(**free).store(TNA_STEER_CELL(key.ifindex, key.queue, std::uint64_t{queue.place}));
    return {};
}

/// Exchanging the page waits for who has found the socket; then its place may be another one's.
void Steering::disconnect(const tna_steer_queue_key& key, unsigned place) {
    if (auto* cell = cellOf(key))
        std::atomic_ref(*cell).store(TNA_STEER_CELL_USED);
    (void)bpf_map_delete_elem(module_->mapFd("steer_sockets"), &place);
    if (preparePage(place))
        return;
    (void)bpf_map_delete_elem(module_->mapFd("steer_pages"), &place);
    pages_.erase(place);
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
    const auto* cell = cellOf(key);
    QueueCounters counters{};
    const auto place = cell == nullptr ? TNA_STEER_PLACES : static_cast<__u32>(*cell & 0xffffU);
    if (bpf_map_lookup_elem(module_->mapFd("steer_queues"), &place, &counters) != 0)
        return std::nullopt;
    return counters;
}

} // namespace tna::deploy
