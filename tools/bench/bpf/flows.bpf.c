// SPDX-License-Identifier: GPL-2.0
/* The end that offers frames of many flows to a network function, as fast as it can or one each time that it
 * is due, counts what has come back, and compares it to the last byte. */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "work_shared.h"

#define COUNTS 3 /* returned as expected, returned otherwise, offered */
#include "counts.bpf.h"

#define WORDS (WORK_FRAME / 8)
#define CHECKSUM_AT 24
#define FROM_AT 26
#define TO_AT 30
#define TO_PORT_AT 36
#define SEGMENT_CHECKSUM_AT 40
#define BACKENDS 16
#define FIRST_BACKEND 0xac100000
#define FIRST_BACKEND_PORT 8080
#define PART_OF_NS 10                   /* bits behind the point of times */
#define LATE (1000000ULL << PART_OF_NS) /* no more than this is caught up with */

/* A frame from 0.0.0.0 whose header has no checksum, as offered and as it has to come back; the former has
 * its segment's checksum as it is. Of the latter, what differs from frame to frame is not in `same`. */
const volatile __u64 offered[WORDS] = {};
const volatile __u64 expected[WORDS] = {};
const volatile __u64 same[WORDS] = {};
const volatile __u32 kind = WORK_MACSWAP;
const volatile __u32 service = 0; /* the destination, as on the wire */
const volatile __u16 service_port = 0;
const volatile __u32 header_sum = 0;  /* of its words, without checksum and addresses */
const volatile __u32 segment_sum = 0; /* as offered, and of its pseudo header but for the source */
/* Sources, in the order of this machine. A part of 2^32 of all frames are from blocked ones. */
const volatile __u32 first_blocked = 0;
const volatile __u32 blocked = 1;
const volatile __u32 first_session = 0;
const volatile __u32 sessions = 1;
const volatile __u64 blocked_part = 1ULL << 32;

__u64 interval = 0; /* between two frames; 0: none */
__u64 due = 0;
__u64 drawn = 1;

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} way SEC(".maps");

static __always_inline __u32 halves(__u32 value)
{
	return (value & 0xffff) + (value >> 16);
}

static __always_inline __u16 checksum(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16) ~((sum & 0xffff) + (sum >> 16));
}

static __always_inline __u32 draw(void)
{
	drawn = drawn * 6364136223846793005ULL + 1442695040888963407ULL;
	return drawn >> 32;
}

static __always_inline int is_due(void)
{
	__u64 now;

	if (!interval)
		return 1;
	now = bpf_ktime_get_ns() << PART_OF_NS;
	if (now < due)
		return 0;
	due = now - due > LATE ? now + interval : due + interval;
	return 1;
}

/* Run with BPF_F_TEST_XDP_LIVE_FRAMES, which uses memory again as it comes back: what was done with it. */
SEC("xdp")
int give(struct xdp_md *ctx)
{
	char *data = (char *)(long)ctx->data;
	__u64 *words = (__u64 *)data;
	__u32 from;

	if (data + WORK_FRAME > (char *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (!is_due())
		return XDP_DROP;
#pragma unroll
	for (int i = 0; i < WORDS; i++)
		words[i] = offered[i];
	if (draw() < blocked_part)
		from = first_blocked + (__u32)(((__u64)draw() * blocked) >> 32);
	else
		from = first_session + (__u32)(((__u64)draw() * sessions) >> 32);
	from = bpf_htonl(from);
	*(__u32 *)(data + FROM_AT) = from;
	*(__u16 *)(data + CHECKSUM_AT) = checksum(header_sum + halves(from) + halves(service));
	count(2, 1);
	return bpf_redirect_map(&way, 0, XDP_DROP);
}

static __always_inline int is_right(const char *data)
{
	const __u64 *words = (const __u64 *)data;
	__u32 from = *(const __u32 *)(data + FROM_AT), to = service;
	__u16 to_port = service_port, segment = 0;
	__u64 differs = 0;

#pragma unroll
	for (int i = 0; i < WORDS; i++)
		differs |= (words[i] ^ expected[i]) & same[i];
	if (kind == WORK_CHAIN) {
		__u32 source = bpf_ntohl(from);

		differs |= source - first_session >= sessions;
		to = bpf_htonl(FIRST_BACKEND + source % BACKENDS);
		to_port = bpf_htons(FIRST_BACKEND_PORT + source % BACKENDS);
	} else {
		differs |= bpf_ntohl(from) - first_blocked >= blocked;
	}
	if (kind == WORK_CHECKSUM) {
		segment = checksum(segment_sum + halves(from));
		segment = segment ? segment : 0xffff;
	}
	return !differs && kind != WORK_FIREWALL && *(const __u32 *)(data + TO_AT) == to &&
	       *(const __u16 *)(data + TO_PORT_AT) == to_port &&
	       *(const __u16 *)(data + SEGMENT_CHECKSUM_AT) == segment &&
	       *(const __u16 *)(data + CHECKSUM_AT) == checksum(header_sum + halves(from) + halves(to));
}

SEC("xdp")
int take(struct xdp_md *ctx)
{
	const char *data = (const char *)(long)ctx->data;

	if (data + WORK_FRAME > (const char *)(long)ctx->data_end)
		return XDP_PASS;
	count(!is_right(data), 1);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
