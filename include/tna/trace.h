/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_TRACE_H
#define TNA_TRACE_H

/* What fpm/trace/ tells user space about packets. */

#include <linux/types.h>

#define TNA_TRACE_HEAD 128

/* Two of each packet: as it came in, and what was decided about it. */
struct tna_trace_record {
	__u64 time;   /* ns of CLOCK_MONOTONIC */
	__u64 number; /* of the packet, on this CPU */
	__u32 cpu;
	__u32 hook;   /* enum tna_hook */
	__u32 length; /* of the frame */
	__u32 ingress;
	/* as it came in */
	__u32 head_length;
	__u8 head[TNA_TRACE_HEAD];
	/* what was decided: see struct tna_decision */
	__u32 forward;
	__u32 reason;
	__u32 egress;
	__u64 retag;
	__u64 destination;
	__u64 source;
};

/* Per CPU. */
struct tna_trace_state {
	__u64 seen;
	__u64 lost;   /* for want of room */
	__u64 number; /* of the packet that is traced; 0: this one is not */
};

#endif
