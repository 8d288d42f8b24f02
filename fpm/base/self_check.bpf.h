/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_SELF_CHECK_H
#define TNA_BASE_SELF_CHECK_H

/*
 * One packet in so many is decided twice: by what is fast, and by what is sure. If they disagree, and no
 * change explains it, then there is an error here, and nothing of that module is believed any more: it leaves
 * everything to Linux, from the next packet on, until the operator says otherwise. For that nothing is added
 * to the straight lines: the epoch moves, so that nothing that is remembered holds, and what would fill the
 * caches again asks here first.
 */

#include "base/state.bpf.h"

/* Suspicions: a change is over after this long, and was seen by both ways. */
#define SUSPICION_GROWS 250000000ull   /* ns */
#define SUSPICION_FADES 10000000000ull /* ns without another one */
#define SUSPICION_TIMES 3

/* 1 for one frame in so many of those that an entry has counted; without a branch. */
INLINE u64 self_check_due(u64 packets)
{
	u64 due = 0;

	WHEN(SELF_CHECK) due = (((packets + 1) & (CONSTANT(SELF_CHECK) - 1)) - 1) >> 63;
	return due;
}

INLINE int self_check_paused(u32 module)
{
	return home.paused & module;
}

/* From now on the module is Linux's. Describes what it is about, which nobody overwrites. */
INLINE struct tna_disagreement *self_check_pause(u32 module)
{
	struct tna_disagreement *found = &home.disagreement;

	if (__sync_fetch_and_or(&home.paused, module) & module)
		return NULL;
	__sync_fetch_and_add(&home.epoch, 1);
	found->module = module;
	return found;
}

/*
 * For a disagreement that a change may explain, which one of the two has not seen yet. Not so if it lasts:
 * the key says what it is about, and of which generation.
 */
INLINE int self_check_lasts(u64 key)
{
	struct tna_suspicion *suspicion = &home.suspicion;
	u64 now = bpf_ktime_get_coarse_ns();
	int faded = now - suspicion->last > SUSPICION_FADES;

	if (suspicion->key != key && suspicion->times && !faded)
		return 0; /* one after the other */
	if (suspicion->key != key || faded) {
		suspicion->key = key;
		suspicion->since = now;
		suspicion->times = 0;
	}
	suspicion->last = now;
	suspicion->times++;
	return suspicion->times >= SUSPICION_TIMES && now - suspicion->since >= SUSPICION_GROWS;
}

/* They agree again. */
INLINE void self_check_trust(u64 key)
{
	if (home.suspicion.key == key)
		home.suspicion.times = 0;
}

#endif
