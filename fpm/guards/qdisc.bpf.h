/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_QDISC_H
#define TNA_GUARD_QDISC_H

/*
 * The queueing discipline that a frame would meet in __dev_queue_xmit(). It is plain where a frame that finds
 * it empty goes straight to the driver, as it is: known by its kind *and* by its settings. What it does to
 * frames that have to wait is congestion, which a redirected frame meets in the driver's queue.
 */

#include <tna/disciplines.h>

#include "kernel/loop.bpf.h"

/*
 * What may shape, classify or drop. "noqueue" alone has no enqueue function: register_qdisc() gives one to
 * all others that lack it, to the roots mq and mqprio, too.
 */
INLINE u64 guard_egress_qdisc(struct net_device *dev)
{
	struct Qdisc *qdisc = KOBJ(struct Qdisc, KGET(u64, dev, qdisc));

	return KGET(u64, qdisc, enqueue);
}

#define QDISC_ID(a, b, c, d, e, f, g, h)                                                                     \
	((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 |      \
	 (u64)(g) << 48 | (u64)(h) << 56)

INLINE u64 qdisc_id(u64 qdisc)
{
	return KLOAD(u64, KADDR(struct Qdisc_ops, KLOAD(u64, KADDR(struct Qdisc, qdisc, ops)), id));
}

/* Of two numbers below 2^63: not 0 if the first one is the smaller one. */
INLINE u64 less(u64 number, u64 limit)
{
	return (number - limit) >> 63;
}

#define FQ_FIELD(N, qdisc, field)                                                                            \
	KLOAD(N, (qdisc) + bpf_core_field_offset(struct Qdisc, privdata) +                                   \
			 bpf_core_field_offset(struct fq_sched_data, field))

/*
 * fq has no TCQ_F_CAN_BYPASS: each frame is put into it and taken out again. By default it paces what sockets
 * ask for only, which forwarded frames have none of (or should have none of, but do: `socket`); it has no
 * classes and no filters. Its settings are in a
 * module's types, which may be unknown (then the fast path is loaded anew when the module comes).
 */
INLINE u64 qdisc_fq_not_plain(u64 qdisc, u64 socket)
{
	if (!bpf_core_type_exists(struct fq_sched_data))
		return qdisc;
	return socket | ~FQ_FIELD(u64, qdisc, flow_max_rate) |
	       less(KLOAD(u32, KADDR(struct Qdisc, qdisc, limit)), TNA_FQ_LIMIT) |
	       less(FQ_FIELD(u32, qdisc, flow_plimit), TNA_FQ_FLOW_LIMIT) |
	       less(FQ_FIELD(u64, qdisc, ce_threshold), TNA_FQ_CE_THRESHOLD) |
	       KLOAD(u64, KADDR(struct Qdisc, qdisc, stab));
}

/* 1 if something is not 0, without a branch: behind each one, the verifier would follow both ways. */
INLINE u64 some(u64 number)
{
	u64 sign = number | -number;

	asm volatile("" : "+r"(sign));
	return sign >> 63;
}

/*
 * 0 for the work-conserving disciplines that distributions use as default. TCQ_F_CAN_BYPASS is Linux's own
 * word that a frame passes an empty discipline without its code being run: it is taken away for good once a
 * filter has been added (tc_new_tfilter()). None of them but fq looks at a sender's socket.
 */
INLINE u64 qdisc_not_plain(u64 qdisc, u64 socket)
{
	u64 id = qdisc_id(qdisc);

	if (id == QDISC_ID('f', 'q', 0, 0, 0, 0, 0, 0))
		return qdisc_fq_not_plain(qdisc, socket);
	u64 engaged = ~KLOAD(u32, KADDR(struct Qdisc, qdisc, flags)) & TCQ_F_CAN_BYPASS;
	u64 few = less(KLOAD(u32, KADDR(struct Qdisc, qdisc, limit)), TNA_FQ_CODEL_LIMIT);

	return some(engaged | few | (id ^ QDISC_ID('f', 'q', '_', 'c', 'o', 'd', 'e', 'l'))) &
	       some(engaged | (id ^ QDISC_ID('p', 'f', 'i', 'f', 'o', '_', 'f', 'a'))) &
	       some(KLOAD(u64, KADDR(struct Qdisc, qdisc, enqueue)));
}

#define QDISC_ID_MQ 0x716du
#define EGRESS_QUEUES_MAX 64

/*
 * For devices with a queue: 0 if every discipline on it is a plain one: the root, or all children of mq, if
 * they are not too many. `socket`: of the frame's sender, which is not to be seen any more; 0: it has none.
 */
APART u64 guard_egress_qdisc_list(u64 address, u64 socket)
{
	struct net_device *dev = KOBJ(struct net_device, address);
	u64 root = KGET(u64, dev, qdisc);
	u64 queue = KGET(u64, dev, _tx);
	u64 end = queue + KGET(u32, dev, real_num_tx_queues) * (u64)bpf_core_type_size(struct netdev_queue);
	struct search other;

	if (qdisc_id(root) != QDISC_ID_MQ)
		return qdisc_not_plain(root, socket);
	SEARCH (other, EGRESS_QUEUES_MAX) {
		if (qdisc_not_plain(KLOAD(u64, KADDR(struct netdev_queue, queue, qdisc)), socket))
			CONCLUDE(other, search_found(queue));
		queue += bpf_core_type_size(struct netdev_queue);
		if (queue == end)
			CONCLUDE(other, search_none());
	}
	return !search_surely_none(other);
}

#endif
