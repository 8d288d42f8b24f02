/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BENCH_PER_CPU_H
#define TNA_BENCH_PER_CPU_H

#include <linux/types.h>

#define CPUS 64

/* One cache line per CPU; shared with user space. */
struct per_cpu {
	__u64 frames;
	__u64 flow;
	__u64 wrong;
	__u64 unused[5];
} __attribute__((aligned(64)));

#endif
