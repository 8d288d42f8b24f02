// SPDX-License-Identifier: GPL-2.0
/* Traffic for benchmarks: a generator for live frames, a counting sink, one that keeps what it gets, and
 * the ceiling. */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_helpers.h>

#include "shared.h"

#define MAGIC 0x746e6162u
#define HEAD (8 * HEAD_WORDS)
#define SEQUENCED (4 + 4)      /* the mark and the number */
#define MARKED (SEQUENCED + 8) /* where latencies are measured, the time when a frame was due */

/* Of the frames, and known when they are sent. */
const volatile __u32 flow_count = 1;
const volatile __u32 size_count = 1;
const volatile __u32 sizes[SIZES] = {};
const volatile __u32 pattern[PATTERN] = {};
const volatile __u32 addressing = ADDRESSING_STATIONS;
const volatile __u32 mark_at = ETH_HLEN + 20 + 8;
const volatile __u32 header_sums[SIZES] = {};
const volatile __u64 heads[SIZES][HEAD_WORDS] = {};
const volatile __u64 heads_back[SIZES][HEAD_WORDS] = {};
const volatile __u64 own_bits[HEAD_WORDS] = {}; /* those in which frames of a size differ */

struct per_cpu generated[CPUS] = {};
struct per_cpu received[CPUS] = {};
struct per_cpu generated_back[CPUS] = {};
struct per_cpu received_back[CPUS] = {};
struct stream streams[CPUS] = {};
__u64 expected[SIZES][HEAD_WORDS] = {}; /* what arrives, but for own_bits */
__u32 kept_count = 0;
__u64 pace = 0;      /* nanoseconds from one frame to the next */
__u32 pace_rest = 0; /* and this many 2^32nds of one */
__u32 due_rest = 0;
__u64 due = 0;      /* when the next frame is due */
__u32 dated = 0;    /* frames carry when they are sent instead of when they were due */
__u64 latest = 0;   /* of those that arrived, when the last was sent */
__u64 earliest = 0; /* and the first */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEPT_FRAMES);
	__type(key, __u32);
	__type(value, struct kept_frame);
} kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} generator_ports SEC(".maps");

/* All programs that use a device map must be alike in whether they can take frames in several buffers. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} bridge_ports SEC(".maps");

/* The sink's own: XDP_TX on a veth needs a program on its peer, a redirect does not. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} reflecting_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LATENCY_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} latencies SEC(".maps");

/* Gives the frame the next size of the pattern; its index, or SIZES if that cannot be. */
static __always_inline __u32 next_size(struct xdp_md *ctx, __u64 number)
{
	__u64 place = number % PATTERN;
	__u32 index;

	if (size_count == 1)
		return 0;
	asm volatile(""
		     : "+r"(place)); /* the verifier does not know what a remainder is, the compiler does */
	if (place >= PATTERN)
		return SIZES;
	index = pattern[place];
	if (index >= SIZES || bpf_xdp_adjust_tail(ctx, (int)(sizes[index] - bpf_xdp_get_buff_len(ctx))))
		return SIZES;
	return index;
}

/* Recycled frames keep changes, so each is written anew. */
static __always_inline int write_next(struct xdp_md *ctx, struct per_cpu *own, __u32 cpu, int back)
{
	__u32 flow = own->flow, size = next_size(ctx, own->frames);
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	if (size >= SIZES || data + HEAD > end || data + mark_at + SEQUENCED > end)
		return 0;
	for (int i = 0; i < HEAD_WORDS; i++)
		((__u64 *)data)[i] = back ? heads_back[size][i] : heads[size][i];
	write_flow(data, addressing, flow, header_sums[size], back);
	*(__u32 *)(data + mark_at + 4) = SEQUENCE(cpu, own->frames);
	own->flow = flow + 1 >= flow_count ? 0 : flow + 1;
	own->frames++;
	return 1;
}

/* Run with BPF_F_TEST_XDP_LIVE_FRAMES. */
SEC("xdp")
int generate(struct xdp_md *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id() & (CPUS - 1);

	if (!write_next(ctx, &generated[cpu], cpu, 0))
		return XDP_ABORTED;
	return bpf_redirect_map(&generator_ports, 0, XDP_DROP);
}

/* From the sink's side: answers, which keep warm what learns. */
SEC("xdp")
int generate_back(struct xdp_md *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id() & (CPUS - 1);

	if (!write_next(ctx, &generated_back[cpu], cpu, 1))
		return XDP_ABORTED;
	return bpf_redirect_map(&generator_ports, 1, XDP_DROP);
}

/*
 * Frame by frame, each when it is due, with that time in the payload. What is not due is dropped here, and
 * tried again: to be run one by one, on one CPU.
 */
SEC("xdp")
int generate_paced(struct xdp_md *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id() & (CPUS - 1);
	__u8 *data, *end;

	__u64 now = bpf_ktime_get_ns();

	if (now < due)
		return XDP_DROP;
	if (!write_next(ctx, &generated[cpu], cpu, 0))
		return XDP_ABORTED;
	data = (__u8 *)(long)ctx->data;
	end = (__u8 *)(long)ctx->data_end;
	if (data + mark_at + MARKED <= end)
		*(__u64 *)(data + mark_at + SEQUENCED) = dated ? now : due;
	__u64 rest = (__u64)due_rest + pace_rest;

	due_rest = rest;
	due += pace + (rest >> 32);
	return bpf_redirect_map(&generator_ports, 0, XDP_DROP);
}

static __always_inline int is_ours(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	return data + mark_at + 4 <= end && *(__u32 *)(data + mark_at) == MAGIC;
}

/* Whether the start of a frame is what it should be: of one of the sizes, changed nowhere. */
static __always_inline int is_right(struct xdp_md *ctx, __u8 *data, __u8 *end)
{
	__u64 size = bpf_xdp_get_buff_len(ctx), wrong = 0;
	__u32 index = 0;

	if (size_count > 1 && size != sizes[0])
		index = size == sizes[1] ? 1 : 2;
	if (size != sizes[index] || data + HEAD > end)
		return 0;
	for (int i = 0; i < HEAD_WORDS; i++)
		wrong |= (((__u64 *)data)[i] ^ expected[index][i]) & ~own_bits[i];
	return !wrong;
}

static __always_inline void count_sequence(__u32 sequence)
{
	struct stream *stream = &streams[sequence >> SEQUENCE_BITS & (CPUS - 1)];
	const __u32 unused_bits = 32 - SEQUENCE_BITS;
	__s32 ahead = (__s32)((sequence - (__u32)stream->next) << unused_bits) >> unused_bits;

	if (ahead >= 0) {
		stream->seen = ahead < 63 ? stream->seen << (ahead + 1) | 1 : 1;
		stream->next += ahead + 1;
		return;
	}
	__u32 before = -ahead - 1;

	if (before < 64 && stream->seen >> before & 1) {
		stream->twice++;
		return;
	}
	if (before < 64)
		stream->seen |= 1ull << before;
	stream->late++;
}

static __always_inline void count_received(struct xdp_md *ctx, __u8 *data, __u8 *end)
{
	struct per_cpu *own = &received[bpf_get_smp_processor_id() & (CPUS - 1)];

	own->frames++;
	if (!is_right(ctx, data, end))
		own->wrong++;
	if (data + mark_at + SEQUENCED <= end)
		count_sequence(*(__u32 *)(data + mark_at + 4));
}

/* On the generator's side, for what comes back. */
SEC("xdp.frags")
int sink_back(struct xdp_md *ctx)
{
	if (!is_ours(ctx))
		return XDP_PASS;
	received_back[bpf_get_smp_processor_id() & (CPUS - 1)].frames++;
	return XDP_DROP;
}

SEC("xdp.frags")
int sink(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;

	if (!is_ours(ctx))
		return XDP_PASS;
	count_received(ctx, data, end);
	return XDP_DROP;
}

/* The time in a frame of ours; 0 in all others. */
static __always_inline __u64 stamp_of(__u8 *data, __u8 *end)
{
	if (data + mark_at + MARKED > end || *(__u32 *)(data + mark_at) != MAGIC)
		return 0;
	return *(__u64 *)(data + mark_at + SEQUENCED);
}

static __always_inline void count_latency(__u64 sent)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 bucket = latency_bucket(now > sent ? now - sent : 0);
	__u64 *count = bpf_map_lookup_elem(&latencies, &bucket);

	if (count)
		(*count)++;
}

/* In the sink's place while latency is measured. */
SEC("xdp.frags")
int sink_stamped(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u64 sent = stamp_of(data, end);

	if (!sent)
		return XDP_PASS;
	count_latency(sent);
	count_received(ctx, data, end);
	return XDP_DROP;
}

/* The same on the generator's side, of frames that went both ways. */
SEC("xdp.frags")
int sink_back_stamped(struct xdp_md *ctx)
{
	__u64 sent = stamp_of((__u8 *)(long)ctx->data, (__u8 *)(long)ctx->data_end);

	if (!sent)
		return XDP_PASS;
	count_latency(sent);
	received_back[bpf_get_smp_processor_id() & (CPUS - 1)].frames++;
	return XDP_DROP;
}

static __always_inline void swap_bytes(__u8 *one, __u8 *other, int count)
{
	for (int i = 0; i < count; i += 2) {
		__u16 keep = *(__u16 *)(one + i);

		*(__u16 *)(one + i) = *(__u16 *)(other + i);
		*(__u16 *)(other + i) = keep;
	}
}

/* In the sink's place while round trips are measured: frames go back to where they came from. */
SEC("xdp.frags")
int reflect(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u32 way = addressing & ~ADDRESSING_SOURCE;

	if (!stamp_of(data, end) || data + HEAD > end)
		return XDP_PASS;
	count_received(ctx, data, end);
	swap_bytes(data, data + ETH_ALEN, ETH_ALEN);
	if ((way & ~ADDRESSING_PORTS) == ADDRESSING_IPV4)
		swap_bytes(data + ETH_HLEN + 12, data + ETH_HLEN + 16, 4);
	else if ((way & ~ADDRESSING_PORTS) == ADDRESSING_IPV6)
		swap_bytes(data + ETH_HLEN + 8, data + ETH_HLEN + 24, 16);
	if (way == (ADDRESSING_IPV4 | ADDRESSING_PORTS))
		swap_bytes(data + ETH_HLEN + 20, data + ETH_HLEN + 22, 2);
	else if (way == (ADDRESSING_IPV6 | ADDRESSING_PORTS))
		swap_bytes(data + ETH_HLEN + 40, data + ETH_HLEN + 42, 2);
	return bpf_redirect_map(&reflecting_port, 0, XDP_DROP);
}

/* In the sink's place while changes are measured; the generator is on one CPU. */
SEC("xdp.frags")
int sink_dated(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u64 sent = stamp_of(data, end);

	if (!sent)
		return XDP_PASS;
	if (!earliest)
		earliest = sent;
	latest = sent;
	count_received(ctx, data, end);
	return XDP_DROP;
}

/* In the sink's place while a contender is verified. */
SEC("xdp.frags")
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
	if (size > sizeof(frame->bytes))
		return XDP_DROP;
	asm volatile("" : "+r"(size)); /* one test for both bounds would tell older verifiers nothing */
	if (size >= ETH_HLEN)
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
