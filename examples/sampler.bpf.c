// SPDX-License-Identifier: GPL-2.0
/*
 * Copies one packet in N to user space, with what was decided about it and why. The ring buffer `samples`
 * is read by whoever opens it (its id is in `tnactl module show sampler`); `settings` holds N. For ports at
 * tcx as well, where a tag is not among what is copied.
 */
#define TNA_MODULE_AT_TCX
#include <tna/module.h>

#define SAMPLE_BYTES 64

struct settings {
	__u32 one_in; /* 0: none */
};

struct sample {
	__u32 length; /* of the frame; its beginning follows */
	__u32 ingress;
	__u32 egress; /* 0: left to Linux */
	__u32 reason; /* then: why, as in tna/reasons.h */
	__u32 routed; /* which of the two decided */
	__u8 frame[SAMPLE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

static __always_inline enum tna_verdict sample(struct tna_packet *packet, __u32 routed)
{
	__u32 zero = 0;
	struct settings *wanted = bpf_map_lookup_elem(&settings, &zero);
	const struct tna_decision *decided;
	struct sample *room;

	if (!wanted || !wanted->one_in || bpf_get_prandom_u32() % wanted->one_in)
		return TNA_CONTINUE;
	decided = tna_decided(packet);
	if (!decided)
		return TNA_CONTINUE;
	room = bpf_ringbuf_reserve(&samples, sizeof(*room), 0);
	if (!room)
		return TNA_CONTINUE;
	*room = (struct sample){.length = packet->length,
				.ingress = packet->ingress,
				.egress = tna_egress(packet),
				.reason = decided->forward ? 0 : decided->reason,
				.routed = routed};
	/* as much as there is, in two sizes: the verifier likes constants */
	if (tna_load(packet, 0, room->frame, SAMPLE_BYTES) && tna_load(packet, 0, room->frame, ETH_HLEN + 20))
		bpf_ringbuf_discard(room, 0);
	else
		bpf_ringbuf_submit(room, 0);
	return TNA_CONTINUE;
}

TNA_BRIDGE(packet)
{
	return sample(packet, 0);
}

TNA_ROUTE(packet)
{
	return sample(packet, 1);
}
