/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_DECISION_H
#define TNA_DECISION_H

/* What custom modules are told, by the fast path and by each other; tna/module.h is what they are written
 * with. */

#include <linux/types.h>
#include <tna/reasons.h>

/* Grows with each change of what follows, or of the verdicts. */
#define TNA_MODULE_ABI 4

/* What was built with this one is taken still: it has no functions for ports at tcx. */
#define TNA_MODULE_ABI_OLDEST 3

/*
 * What an object was built with. Reasons are numbers that mean something else after one has come or gone,
 * so how many there are is a part of it.
 */
#define TNA_MODULE_VERSION (TNA_MODULE_ABI << 16 | TNA_REASON_COUNT)

enum tna_hook {
	TNA_HOOK_INGRESS, /* before anything else */
	TNA_HOOK_BRIDGE,  /* the bridge has decided, nothing is done yet */
	TNA_HOOK_ROUTE,   /* the same of routing */
	TNA_HOOK_EGRESS,  /* the frame as it leaves */
	TNA_HOOK_COUNT
};

enum tna_verdict {
	TNA_CONTINUE, /* with the next module, or with what the fast path does */
	TNA_TO_LINUX, /* the frame as it is; not at egress */
	TNA_DROP,
	TNA_TO_PORT,   /* tna_to_port(); not at egress */
	TNA_TO_SOCKET, /* tna_to_socket(); not at egress */
	TNA_VERDICT_COUNT
};

/* Per CPU and hook: what a module has said. */
struct tna_module_counters {
	__u64 verdicts[TNA_VERDICT_COUNT];
	__u64 faults; /* verdicts that the hook does not allow: Linux got the frame; at egress, nobody */
	__u64 unused[2];
};

/* Where a frame is to go, and what it is to look like there; nothing of it is done yet. */
struct tna_decision {
	__u32 forward; /* 0: to Linux */
	__u32 reason;  /* then: why, TNA_REASON_* */
	__u32 egress;  /* ifindex */
	__u32 slots;   /* of the ports: in, and above 16 bits out */
	__u32 length;  /* of the frame that this is about */
	__u32 left;    /* routed: of that, without what lies behind the packet */
	/*
	 * What becomes of the tag. Bridged: 0, or TNA_RETAG_* and its TCI. Routed: the tag that the frame is
	 * to have and, above 32 bits, has, as they lie in the frame; 0: none.
	 */
	__u64 retag;
	__u32 vlan_protocol; /* network order, of that tag */
	__u32 routed;        /* 0, 4 or 6 */
	__u64 destination;   /* routed: the MAC addresses, as they lie in memory */
	__u64 source;
	__u64 seen[9]; /* the headers that this was decided for */
};

/*
 * Stands where a program goes on with a hook's modules, or with what is behind them: this, and the hook's
 * number. In its place tnad puts either what follows or a tail call to it. Until then it is an instruction
 * without effect.
 */
#define TNA_GO_ON_MARK 0x544e4b40

#ifdef __bpf__
/* `slot` is where a tail call finds what follows. Whoever has nothing behind it gets here. */
static __always_inline void tna_go_on(void *ctx, void *slot, const __u32 hook)
{
	asm volatile("r1 = %[ctx]\n"
		     "r2 = %[slot]\n"
		     "r3 = 0\n"
		     "r0 = %[mark]\n"
		     :
		     : [ctx] "r"(ctx), [slot] "r"(slot), [mark] "i"(TNA_GO_ON_MARK + hook)
		     : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
}
#endif

#define TNA_RETAG_PUSH (1ULL << 16)
#define TNA_RETAG_POP (1ULL << 17)
#define TNA_RETAG_WRITE (1ULL << 18) /* the tag stays, its TCI does not */

#endif
