/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BENCH_COUNTS_BPF_H
#define TNA_BENCH_COUNTS_BPF_H

/* Numbers that each processor counts by itself; COUNTS says how many there are. */
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 which, __u64 many)
{
	__u64 *own = bpf_map_lookup_elem(&counts, &which);

	if (own)
		*own += many;
}

#endif
