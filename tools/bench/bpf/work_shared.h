/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BENCH_WORK_SHARED_H
#define TNA_BENCH_WORK_SHARED_H

#include <linux/types.h>

/* What is done with each frame (functions/workload/work.hpp has the same for user space). */
enum work_kind {
	WORK_MACSWAP,
	WORK_CHECKSUM,
	WORK_LOOKUP,
	WORK_FIREWALL,
	WORK_CHAIN,
};

#define WORK_FRAME 64 /* bytes of each frame */
#define WORK_LINE 64  /* and of each line of the table of WORK_LOOKUP */
#define WORK_CHAIN_RULES 1000

/* As functions/workload/flows.hpp has them. */
struct work_flow {
	__u32 from;
	__u32 to;
	__u16 from_port;
	__u16 to_port;
	__u32 protocol;
};

struct work_backend {
	__u32 address;
	__u16 port;
	__u16 unused;
};

#endif
