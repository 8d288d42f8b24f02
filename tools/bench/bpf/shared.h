/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BENCH_SHARED_H
#define TNA_BENCH_SHARED_H

/* What the traffic programs share with user space. */
#include <linux/types.h>

#define CPUS 64
#define KEPT_FRAMES 256

/* One cache line per CPU. */
struct per_cpu {
	__u64 frames;
	__u64 flow;
	__u64 wrong;
	__u64 unused[5];
} __attribute__((aligned(64)));

/*
 * Behind the mark of each frame is which one it is of those that its CPU has sent. The sink sees by it what
 * came late or twice: twice among the last 64.
 */
#define SEQUENCE_BITS 26
#define SEQUENCE(cpu, number) ((__u32)(cpu) << SEQUENCE_BITS | ((number) & ((1u << SEQUENCE_BITS) - 1)))

/* What one of the generator's CPUs sent, as the sink sees it. */
struct stream {
	__u64 next; /* the number after the highest that came */
	__u64 seen; /* bit n: the nth before that */
	__u64 late; /* came after a later one */
	__u64 twice;
	__u64 unused[4];
} __attribute__((aligned(64)));

/*
 * Latencies are counted in buckets: exactly up to 32 ns, then 32 buckets for each power of two, which is
 * within 3 %.
 */
#define LATENCY_STEPS_LOG 5
#define LATENCY_STEPS (1 << LATENCY_STEPS_LOG)
#define LATENCY_LARGEST_LOG 40 /* 18 minutes */
#define LATENCY_BUCKETS ((LATENCY_LARGEST_LOG - LATENCY_STEPS_LOG + 1) * LATENCY_STEPS)

static inline __attribute__((always_inline)) __u32 latency_bucket(__u64 ns)
{
	__u32 log = 0;

	if (ns >> LATENCY_LARGEST_LOG)
		return LATENCY_BUCKETS - 1;
	for (__u32 half = 32; half; half /= 2)
		if (ns >> (log + half))
			log += half;
	if (log < LATENCY_STEPS_LOG)
		return (__u32)ns;
	__u32 shift = log - LATENCY_STEPS_LOG;

	return shift * LATENCY_STEPS + (__u32)(ns >> shift);
}

/* How the flows' frames differ from each other. */
#define ADDRESSING_STATIONS 0 /* both MAC addresses */
#define ADDRESSING_IPV4 1     /* destination and header checksum */
#define ADDRESSING_IPV6 2     /* destination */
#define ADDRESSING_PORTS 4    /* added to either: and the source's port */
#define ADDRESSING_SOURCE 8   /* added to either: the source instead of the destination */

#define HEAD_WORDS 8 /* of each frame are the generator's, eight bytes each */

/* Frames of several sizes come in a pattern: of the simple IMIX, seven small, four medium, one large. */
#define SIZES 3
#define PATTERN 12

/* The bits in which a flow's destination behind a router differs from others': each flow has its own. */
#define SCATTER_BITS 22
#define DESTINATIONS_IPV4 0x64400000u /* 100.64.0.0/10 */
#define SCATTER(flow) ((flow) * 0x9e3779b1u & ((1u << SCATTER_BITS) - 1))

/* Other rules than the last do not know these ports. */
#define FLOW_PORT(flow) (1024 + ((flow) & 0x3fff))

#define TNA_BENCH_ETH 14

/* Network byte order, for the programs and for user space alike. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TNA_BENCH_BE32(x) __builtin_bswap32(x)
#define TNA_BENCH_BE16(x) __builtin_bswap16(x)
#else
#define TNA_BENCH_BE32(x) (x)
#define TNA_BENCH_BE16(x) (x)
#endif

/* What is a flow's own; at fixed places, each of two bytes' alignment, of the first flow's frame. The way
 * back has the addresses swapped. */
static inline __attribute__((always_inline)) void write_flow(__u8 *data, __u32 addressing, __u32 flow,
							     __u32 header_sum, int back)
{
	__u32 way = addressing & ~(ADDRESSING_PORTS | ADDRESSING_SOURCE);
	int source = !(addressing & ADDRESSING_SOURCE) == !!back;

	if (addressing & ADDRESSING_PORTS)
		*(__u16 *)(data + TNA_BENCH_ETH + (way == ADDRESSING_IPV6 ? 40 : 20) + (back ? 2 : 0)) =
			TNA_BENCH_BE16((__u16)FLOW_PORT(flow));
	if (way == ADDRESSING_STATIONS) {
		*(__u32 *)(data + 2) = TNA_BENCH_BE32(flow);
		*(__u32 *)(data + 8) = TNA_BENCH_BE32(flow);
	} else if (way == ADDRESSING_IPV4) {
		__u32 bits = SCATTER(flow), sum = header_sum + (bits >> 16) + (bits & 0xffff);

		*(__u32 *)(data + TNA_BENCH_ETH + (source ? 12 : 16)) =
			TNA_BENCH_BE32(DESTINATIONS_IPV4 | bits);
		sum = (sum & 0xffff) + (sum >> 16);
		*(__u16 *)(data + TNA_BENCH_ETH + 10) =
			TNA_BENCH_BE16((__u16) ~((sum & 0xffff) + (sum >> 16)));
	} else {
		*(__u32 *)(data + TNA_BENCH_ETH + (source ? 12 : 28)) =
			TNA_BENCH_BE32(SCATTER(flow) << (32 - SCATTER_BITS));
	}
}

struct kept_frame {
	__u32 size;
	__u8 bytes[9216];
};

#endif
