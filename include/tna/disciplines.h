/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_DISCIPLINES_H
#define TNA_DISCIPLINES_H

/*
 * What Linux sets by default in the queueing disciplines that the fast path takes for plain: one that lets
 * fewer frames wait than that, or does more to them, is left to Linux (docs/queueing.md).
 */

/* fq_codel_init() */
#define TNA_FQ_CODEL_LIMIT 10240u
#define TNA_FQ_CODEL_MEMORY (32u << 20)

/* fq_init(); the threshold in nanoseconds, which settings in microseconds cannot exceed */
#define TNA_FQ_LIMIT 10000u
#define TNA_FQ_FLOW_LIMIT 100u
#define TNA_FQ_CE_THRESHOLD (1000ull * 0xffffffffu)

#endif
