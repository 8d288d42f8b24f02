// SPDX-License-Identifier: GPL-2.0
/* Traffic for benchmarks: a generator for live frames, a counting sink, one that keeps what it gets, and
 * the ceiling. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "shared.h"

#define MAGIC 0x746e6162u
#define HEADERS (ETH_HLEN + 20 + 8)
#define STAMP (HEADERS + 4)

const volatile __u32 flow_count = 1;
const volatile __u32 frame_size = 64;

struct per_cpu generated[CPUS] = {};
struct per_cpu received[CPUS] = {};
__u32 kept_count = 0;
__u64 pace = 0; /* nanoseconds from one frame to the next */
__u64 due = 0;  /* when the next frame is due */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEPT_FRAMES);
	__type(key, __u32);
	__type(value, struct kept_frame);
} kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} generator_port SEC(".maps");

/* All programs that use a device map must be alike in whether they can take frames in several buffers. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} bridge_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LATENCY_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} latencies SEC(".maps");

/* Flow n goes from station 02:01:n to station 02:00:n. */
static __always_inline void write_headers(__u8 *data, __u32 flow)
{
	__u16 high = bpf_htons(flow >> 16), low = bpf_htons(flow), *words = (__u16 *)data;
	__u32 size = frame_size, sum = 0;

	words[0] = bpf_htons(0x0200);
	words[1] = high;
	words[2] = low;
	words[3] = bpf_htons(0x0201);
	words[4] = high;
	words[5] = low;
	words[6] = bpf_htons(ETH_P_IP);
	words[7] = bpf_htons(0x4500);
	words[8] = bpf_htons(size - ETH_HLEN);
	words[9] = 0;
	words[10] = 0;
	words[11] = bpf_htons(64 << 8 | 17);
	words[12] = 0;
	words[13] = bpf_htons(0x0a00);
	words[14] = bpf_htons(1);
	words[15] = bpf_htons(0x0a01);
	words[16] = bpf_htons(2);
	for (int i = 7; i < 17; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	words[12] = ~((sum & 0xffff) + (sum >> 16));
	words[17] = bpf_htons(9000);
	words[18] = bpf_htons(9);
	words[19] = bpf_htons(size - ETH_HLEN - 20);
	words[20] = 0;
	*(__u32 *)(data + HEADERS) = MAGIC;
}

/* Recycled frames keep changes, so each is written anew. */
static __always_inline int send_next(__u8 *data)
{
	struct per_cpu *own = &generated[bpf_get_smp_processor_id() & (CPUS - 1)];
	__u32 flow = own->flow;

	own->flow = flow + 1 >= flow_count ? 0 : flow + 1;
	own->frames++;
	write_headers(data, flow);
	return bpf_redirect_map(&generator_port, 0, XDP_DROP);
}

/* Run with BPF_F_TEST_XDP_LIVE_FRAMES. */
SEC("xdp")
int generate(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	return data + HEADERS + 4 > end ? XDP_ABORTED : send_next(data);
}

/*
 * Frame by frame, each when it is due, with that time in the payload. What is not due is dropped here, and
 * tried again: to be run one by one, on one CPU.
 */
SEC("xdp")
int generate_paced(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	if (data + STAMP + 8 > end)
		return XDP_ABORTED;
	if (bpf_ktime_get_ns() < due)
		return XDP_DROP;
	*(__u64 *)(data + STAMP) = due;
	due += pace;
	return send_next(data);
}

static __always_inline int is_ours(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	return data + HEADERS + 4 <= end && *(__u32 *)(data + HEADERS) == MAGIC;
}

static __always_inline void count_received(__u8 *data, __u8 *end)
{
	struct per_cpu *own = &received[bpf_get_smp_processor_id() & (CPUS - 1)];

	own->frames++;
	if (end - data != frame_size || *(__u16 *)data != bpf_htons(0x0200))
		own->wrong++;
}

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	if (data + HEADERS + 4 > end || *(__u32 *)(data + HEADERS) != MAGIC)
		return XDP_PASS;
	count_received(data, end);
	return XDP_DROP;
}

static __always_inline __u32 latency_bucket(__u64 ns)
{
	__u32 log = 0;

	if (ns >> LATENCY_LARGEST_LOG)
		return LATENCY_BUCKETS - 1;
	for (__u32 half = 32; half; half /= 2)
		if (ns >> (log + half))
			log += half;
	if (log < LATENCY_STEPS_LOG)
		return ns;
	__u32 shift = log - LATENCY_STEPS_LOG;

	return shift * LATENCY_STEPS + (ns >> shift);
}

/* In the sink's place while latency is measured. */
SEC("xdp")
int sink_stamped(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	if (data + STAMP + 8 > end || *(__u32 *)(data + HEADERS) != MAGIC)
		return XDP_PASS;
	__u64 sent = *(__u64 *)(data + STAMP), now = bpf_ktime_get_ns();
	__u32 bucket = latency_bucket(now > sent ? now - sent : 0);
	__u64 *count = bpf_map_lookup_elem(&latencies, &bucket);

	if (count)
		(*count)++;
	count_received(data, end);
	return XDP_DROP;
}

/* In the sink's place while a contender is verified. */
SEC("xdp")
int keep(struct xdp_md *ctx)
{
	__u64 size = bpf_xdp_get_buff_len(ctx);
	struct kept_frame *frame;
	__u32 index;

	if (!is_ours(ctx))
		return XDP_PASS;
	index = __sync_fetch_and_add(&kept_count, 1);
	frame = bpf_map_lookup_elem(&kept, &index);
	if (!frame)
		return XDP_DROP;
	frame->size = size;
	if (size > 0 && size <= sizeof(frame->bytes))
		bpf_xdp_load_bytes(ctx, 0, frame->bytes, size);
	return XDP_DROP;
}

/* The least that forwarding can cost: a redirect to a fixed port. Able to take frames in several buffers,
 * and on both ports, as tnad's programs are. */
SEC("xdp.frags")
int ceiling(struct xdp_md *ctx)
{
	return bpf_redirect_map(&bridge_ports, 0, XDP_PASS);
}

SEC("xdp.frags")
int ceiling_back(struct xdp_md *ctx)
{
	return bpf_redirect_map(&bridge_ports, 1, XDP_PASS);
}

char _license[] SEC("license") = "GPL";
