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
	__type(value, __u32);
} steer_current SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct tna_steer_table);
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
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TNA_STEER_PLACES);
	__type(key, struct tna_steer_queue_key);
	__type(value, struct tna_steer_queue);
} steer_queues SEC(".maps");

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

/* The same as hashOf() of controller/functions/steering_table.cpp. */
static __always_inline __u32 hash_of(const __u64 *key, const __u64 *bits, __u64 hash)
{
	EACH (i, TNA_STEER_WORDS) {
		hash = (hash ^ (key[i] & bits[i])) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash & (TNA_STEER_HOMES - 1);
}

static __always_inline bool is_same(const struct tna_steer_entry *entry, const __u64 *key, const __u64 *bits)
{
	__u64 different = 0;

	EACH (i, TNA_STEER_WORDS)
		different |= entry->key[i] ^ (key[i] & bits[i]);
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
	const __u64 *bits;
	__u32 at;

	if (number >= TNA_STEER_MASKS)
		return NULL;
	bits = table->mask[number].bits;
	at = hash_of(wanted->key, bits, table->seed + number);
	/* the table has no longer ones */
	EACH (step, TNA_STEER_CHAIN) {
		__u32 place = half + at;
		const struct tna_steer_entry *entry = bpf_map_lookup_elem(&steer_entries, &place);

		if (!entry || !entry->rank)
			return NULL;
		if (entry->mask == number && is_behind(entry, below) && is_same(entry, wanted->key, bits))
			return entry;
		at = entry->next;
		if (!at)
			return NULL;
	}
	return NULL;
}

static __always_inline const struct tna_steer_entry *
best_for(const struct wanted *wanted, const struct tna_steer_table *table, __u32 half, __u32 below)
{
	const struct tna_steer_entry *best = NULL;

	EACH (number, TNA_STEER_MASKS) {
		const struct tna_steer_entry *entry;

		if (number >= table->masks || (best && best->rank >= table->mask[number].best))
			break;
		entry = entry_for(wanted, table, number, half, below);
		if (entry && (!best || entry->rank > best->rank))
			best = entry;
	}
	return best;
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
