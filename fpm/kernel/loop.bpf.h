/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_LOOP_H
#define TNA_KERNEL_LOOP_H

/*
 * Loops that the verifier follows once (numeric iterators, since 6.4). Of any other it follows each turn with
 * all that may have been decided before: a search in a deep tree takes it seconds, if it does not give up.
 */

#include "kernel/access.h"

struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

/* A number of turns at most; after LOOP_BEGIN() comes `while (LOOP_TURN(it) && ...)`, and LOOP_END() always.
 */
#define LOOP_BEGIN(it, turns)                                                                                \
	struct bpf_iter_num it;                                                                              \
	bpf_iter_num_new(&(it), 0, turns)
#define LOOP_TURN(it) bpf_iter_num_next(&(it))
#define LOOP_END(it) bpf_iter_num_destroy(&(it))

#endif
