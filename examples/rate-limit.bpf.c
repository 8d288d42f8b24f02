// SPDX-License-Identifier: GPL-2.0
/*
 * Lets each IPv4 source send so many packets a second and no more: a bucket of tokens for each of them. The
 * limit is one for all, and can be changed while the module is in place:
 *
 *	tnactl module insert rate-limit.bpf.o --port 'eth*'
 *	bpftool map update id ID key 0 0 0 0 value 0x88 0x13 0 0 0x10 0x27 0 0
 *
 * where ID is what `tnactl module show rate-limit` says of the map `limit`.
 */
#include <tna/module.h>

struct limit {
	__u32 rate;  /* packets per second; 0: no limit */
	__u32 burst; /* packets at once */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct limit);
} limit SEC(".maps");

struct bucket {
	__u64 filled; /* nanoseconds: when the bucket was as full as `tokens` says */
	__u64 tokens; /* in billionths of a packet */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct bucket);
} buckets SEC(".maps");

#define PACKET 1000000000ULL

/*
 * Whether there is a token, which then is taken. Two CPUs that get packets of one source at the same moment
 * may take the same one: the limit is kept, but for a few packets.
 */
static __always_inline bool take(struct bucket *bucket, const struct limit *limit, __u64 now)
{
	__u64 most = limit->burst * PACKET, rate = limit->rate, tokens;
	bool taken = false;

	tokens = now > bucket->filled ? (now - bucket->filled) * rate : 0;
	/* who was away for long has all; a product that is too large would be a wrong one */
	if (now - bucket->filled > 60 * PACKET || bucket->tokens + tokens > most)
		tokens = most;
	else
		tokens += bucket->tokens;
	if (tokens >= PACKET) {
		tokens -= PACKET;
		taken = true;
	}
	bucket->tokens = tokens;
	bucket->filled = now;
	return taken;
}

TNA_INGRESS(packet)
{
	__u32 zero = 0, *source = packet->ip_version == 4 ? tna_at(packet, packet->l3 + 12, 4) : NULL;
	struct limit *wanted = bpf_map_lookup_elem(&limit, &zero);
	struct bucket full = {}, *bucket;
	__u64 now = bpf_ktime_get_ns();
	__u32 key;

	if (!source || !wanted || !wanted->rate)
		return TNA_CONTINUE;
	key = *source;
	bucket = bpf_map_lookup_elem(&buckets, &key);
	if (bucket)
		return take(bucket, wanted, now) ? TNA_CONTINUE : TNA_DROP;
	full.filled = now;
	full.tokens = (wanted->burst ? wanted->burst - 1 : 0) * PACKET;
	bpf_map_update_elem(&buckets, &key, &full, BPF_NOEXIST);
	return TNA_CONTINUE;
}
