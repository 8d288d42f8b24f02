/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_LOOP_H
#define TNA_KERNEL_LOOP_H

/*
 * Loops, none of which runs for longer than it may, and what comes of a search that would have to.
 *
 * "There is none" is an answer, too, and one that others rely on: where there is no longer prefix, a shorter
 * one is taken. So a search has three answers, and a loop that ends because it has made all of its turns has
 * said none of them: what it was to find out is in doubt, unless the loop's body has said otherwise before.
 * The answer is no number, so that nobody takes doubt for an address, or for "there is none".
 *
 * All loops are made by these macros (tools/lint).
 */

#include "kernel/access.h"

struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

struct search {
	u64 answer; /* for functions that are called: BPF returns numbers only */
};

#define SEARCH_DOUBT (~0ULL) /* nothing lies there */

INLINE struct search search_found(u64 address)
{
	return (struct search){address};
}

/* Only for who has come to the end. */
INLINE struct search search_none(void)
{
	return (struct search){0};
}

INLINE struct search search_doubt(void)
{
	return (struct search){SEARCH_DOUBT};
}

INLINE int search_in_doubt(struct search search)
{
	return search.answer == SEARCH_DOUBT;
}

INLINE int search_surely_none(struct search search)
{
	return !search.answer;
}

/* What was found, by address; 0 if there is none or if that is in doubt, for callers that leave the frame to
 * Linux in either case. */
INLINE u64 found_or_linux(struct search search)
{
	return search_in_doubt(search) ? 0 : search.answer;
}

/*
 * A search of so many turns at most. The body is run until it concludes; if it never does, the answer is
 * doubt. The verifier follows the body once (numeric iterators, since 6.4): of any other loop it follows each
 * turn with all that may have been decided before, which takes it seconds for a deep tree, if it does not
 * give up.
 */
#define SEARCH(search, turns)                                                                                \
	for (struct bpf_iter_num it_ __attribute__((cleanup(bpf_iter_num_destroy))),                         \
	     *once_ __attribute__((unused)) = SEARCH_BEGIN(it_, search, turns);                              \
	     bpf_iter_num_next(&it_);)

/* clang emits no BTF for what is but called at the end of a scope, so it is named here. */
#define SEARCH_BEGIN(it, search, turns)                                                                      \
	((search) = search_doubt(), bpf_iter_num_new(&(it), 0, turns), (void)bpf_iter_num_destroy,           \
	 (struct bpf_iter_num *)0)

/* The same for a few turns, where an iterator would cost more than the turns. */
#define SEARCH_SHORT(search, turns) for (u32 turn_ = ((search) = search_doubt(), 0); turn_ < (turns); turn_++)

/* Ends a search. */
#define CONCLUDE(search, conclusion)                                                                         \
	{                                                                                                    \
		(search) = (conclusion);                                                                     \
		break;                                                                                       \
	}

/* From 0 on, all of so many: nothing is left out, as their number is known when this is compiled. */
#define EACH(index, number) for (u32 index = 0; index < (number); index++)

#endif
