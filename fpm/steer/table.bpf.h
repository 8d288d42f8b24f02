/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_STEER_TABLE_H
#define TNA_STEER_TABLE_H

/* The rules, how the one for a frame is found, and the sockets: what the ways to network functions share. */

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include <tna/steer.h>

#include "kernel/loop.bpf.h"

#define STEER_ALL_RULES (~0U)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tna_steer_tables);
} steer_tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * TNA_STEER_ENTRIES);
	__type(key, __u32);
	__type(value, struct tna_steer_entry);
} steer_entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TNA_STEER_RULES);
	__type(key, __u32);
	__type(value, struct tna_steer_counters);
} steer_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TNA_STEER_FUNCTIONS);
	__type(key, __u32);
	__type(value, struct tna_steer_function);
} steer_functions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TNA_STEER_PLACES);
	__type(key, __u32);
	__type(value, struct tna_steer_queue);
} steer_queues SEC(".maps");

/* No hash map of the kernel: each of its lookups is three calls, and arrays need none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TNA_STEER_CELLS);
	__type(key, __u32);
	__type(value, __u64);
} steer_cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, TNA_STEER_PLACES);
	__type(key, __u32);
	__type(value, __u32);
} steer_sockets SEC(".maps");

/* The functions' pages, a map each: none of them sees another's. */
struct steer_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct tna_steer_page));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TNA_STEER_PLACES);
	__type(key, __u32);
	__array(values, struct steer_page);
} steer_pages SEC(".maps");

static const __u32 zero;

struct wanted {
	__u64 key[TNA_STEER_WORDS];
};

static __always_inline __u64 masked(const struct wanted *wanted, const struct tna_steer_mask *mask,
				    __u32 word)
{
	return wanted->key[word] & mask->bits[word];
}

/* The same as hashOf() of controller/functions/steering_table.cpp. */
static __always_inline __u32 hash_of(const struct wanted *wanted, const struct tna_steer_mask *mask,
				     __u32 number, __u64 factor)
{
	const __u64 factors[TNA_STEER_WORDS] = TNA_STEER_FACTORS;
	__u64 sum = number;

	EACH (word, TNA_STEER_WORDS)
		if (!TNA_STEER_SECOND(word))
			sum += masked(wanted, mask, word) * factors[word];
	if (mask->wide)
		EACH (word, TNA_STEER_WORDS)
			if (TNA_STEER_SECOND(word))
				sum += masked(wanted, mask, word) * factors[word];
	sum ^= sum >> 32;
	return sum * factor >> (64 - TNA_STEER_HOME_BITS);
}

static __always_inline bool is_same(const struct tna_steer_entry *entry, const struct wanted *wanted,
				    const struct tna_steer_mask *mask)
{
	__u64 different = 0;

	EACH (word, TNA_STEER_WORDS)
		if (!TNA_STEER_SECOND(word))
			different |= entry->key[word] ^ masked(wanted, mask, word);
	if (mask->wide)
		EACH (word, TNA_STEER_WORDS)
			if (TNA_STEER_SECOND(word))
				different |= entry->key[word] ^ masked(wanted, mask, word);
	return !different;
}

/* Whether a rule may have the frame: one of a lower rank only, behind a function that has had it. */
static __always_inline bool is_behind(const struct tna_steer_entry *entry, __u32 below)
{
	return below == STEER_ALL_RULES || entry->rank < below;
}

/* The first entry of one mask for a frame, if there is one. */
static __always_inline const struct tna_steer_entry *entry_for(const struct wanted *wanted,
							       const struct tna_steer_table *table,
							       __u32 number, __u32 half, __u32 below)
{
	const struct tna_steer_mask *mask;
	__u32 at;

	if (number >= TNA_STEER_MASKS)
		return NULL;
	mask = &table->mask[number];
	at = mask->only ? mask->only - 1 : hash_of(wanted, mask, number, table->factor);
	/* the table has no longer ones */
	EACH (step, TNA_STEER_CHAIN) {
		__u32 place = half + at;
		const struct tna_steer_entry *entry = bpf_map_lookup_elem(&steer_entries, &place);

		if (!entry || !entry->rank)
			return NULL;
		/* its mask first: what is compared is all that this one looks at */
		if (entry->mask == number && is_same(entry, wanted, mask) && is_behind(entry, below))
			return entry;
		at = entry->next;
		if (!at || mask->only)
			return NULL;
	}
	return NULL;
}

/* The first rule of all for a frame, of those below a rank. */
static __always_inline const struct tna_steer_entry *
best_for(const struct wanted *wanted, const struct tna_steer_tables *tables, __u32 below)
{
	const __u32 which = *(const volatile __u32 *)&tables->current & 1;
	const struct tna_steer_table *table = &tables->of[which];
	const struct tna_steer_entry *best = NULL;

	EACH (number, TNA_STEER_MASKS) {
		const struct tna_steer_entry *entry;

		if (number >= table->masks || (best && best->rank >= table->mask[number].best))
			break;
		entry = entry_for(wanted, table, number, which * TNA_STEER_ENTRIES, below);
		if (entry && (!best || entry->rank > best->rank))
			best = entry;
	}
	return best;
}

/* The socket of a queue of a port, NULL if there is none. */
static __always_inline struct tna_steer_queue *queue_at(const struct tna_steer_queue_key *key)
{
	const __u64 wanted = TNA_STEER_CELL(key->ifindex, key->queue, 0);
	__u32 at = TNA_STEER_CELL_HASH(wanted);

	EACH (step, TNA_STEER_CELL_STEPS) {
		const __u64 *cell = bpf_map_lookup_elem(&steer_cells, &at);
		__u64 found;

		if (!cell)
			return NULL;
		found = *(const volatile __u64 *)cell;
		if (found >> 16 == wanted >> 16) {
			__u32 place = found & 0xffff;

			return bpf_map_lookup_elem(&steer_queues, &place);
		}
		if (!found)
			return NULL;
		at = (at + 1) & (TNA_STEER_CELLS - 1);
	}
	return NULL;
}

/*
 * Whether there is a place for one more than were given. Where that is known is looked at only when all
 * places are taken that were there when it was looked at last.
 */
static __always_inline bool has_room(struct tna_steer_queue *queue, __u64 given)
{
	const struct tna_steer_page *page;
	void *pages;

	if (given < queue->limit)
		return true;
	pages = bpf_map_lookup_elem(&steer_pages, &queue->place);
	if (!pages)
		return false;
	page = bpf_map_lookup_elem(pages, &zero);
	if (!page)
		return false;
	queue->limit = *(const volatile __u64 *)&page->places;
	if (given < queue->limit)
		return true;
	queue->full++;
	return false;
}

#endif
