// SPDX-License-Identifier: GPL-2.0
/*
 * A custom module that tells user space about one packet in N: what it looks like when it comes in, and what
 * is decided about it. tnad puts it in place for as long as somebody traces: before all other modules at
 * ingress, and behind them after the decisions.
 */
#include <tna/module.h>
#include <tna/trace.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} one_in SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tna_trace_state);
} state SEC(".maps");

static const __u32 zero;

static __always_inline struct tna_trace_record *begin_record(struct tna_packet *packet,
							     struct tna_trace_state *here, __u32 hook)
{
	struct tna_trace_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record) {
		here->lost++;
		return NULL;
	}
	*record = (struct tna_trace_record){.time = bpf_ktime_get_ns(),
					    .number = here->number,
					    .cpu = bpf_get_smp_processor_id(),
					    .hook = hook,
					    .length = packet->length,
					    .ingress = packet->ingress};
	return record;
}

TNA_INGRESS(packet)
{
	struct tna_trace_state *here = bpf_map_lookup_elem(&state, &zero);
	const __u32 *wanted = bpf_map_lookup_elem(&one_in, &zero);
	struct tna_trace_record *record;
	__u32 length = packet->length;

	if (!here || !wanted || !*wanted)
		return TNA_CONTINUE;
	here->number = 0;
	if (here->seen++ % *wanted)
		return TNA_CONTINUE;
	here->number = here->seen;
	record = begin_record(packet, here, TNA_HOOK_INGRESS);
	if (!record) {
		here->number = 0; /* half a story is none */
		return TNA_CONTINUE;
	}
	if (length > TNA_TRACE_HEAD)
		length = TNA_TRACE_HEAD;
	asm volatile("" : "+r"(length)); /* the verifier is to see the bounds */
	if (length > 0 && length <= TNA_TRACE_HEAD &&
	    bpf_xdp_load_bytes(packet->ctx, 0, record->head, length) == 0)
		record->head_length = length;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); /* it is looked for */
	return TNA_CONTINUE;
}

static __always_inline enum tna_verdict decided(struct tna_packet *packet, __u32 hook)
{
	struct tna_trace_state *here = bpf_map_lookup_elem(&state, &zero);
	const struct tna_decision *decision = tna_decided(packet);
	struct tna_trace_record *record;

	if (!here || !here->number || !decision)
		return TNA_CONTINUE;
	record = begin_record(packet, here, hook);
	if (!record)
		return TNA_CONTINUE;
	record->forward = decision->forward;
	record->reason = decision->reason;
	record->egress = decision->egress;
	record->retag = decision->retag;
	record->destination = decision->destination;
	record->source = decision->source;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return TNA_CONTINUE;
}

TNA_BRIDGE(packet)
{
	return decided(packet, TNA_HOOK_BRIDGE);
}

TNA_ROUTE(packet)
{
	return decided(packet, TNA_HOOK_ROUTE);
}
