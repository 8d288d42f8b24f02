/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_CONSTANT_H
#define TNA_BASE_CONSTANT_H

/* The constants that make a profile out of the pipeline. */

#include <tna/constants.h>

#include "kernel/access.h"

/*
 * A profile's constant; the verifier knows its value and removes what it rules out. Unpatched, the
 * lower half is 1: the program as libbpf loads it must verify, too.
 */
#define CONSTANT(name)                                                                                       \
	({                                                                                                   \
		u64 value;                                                                                   \
		asm("%0 = %1 ll"                                                                             \
		    : "=r"(value)                                                                            \
		    : "i"((u64)(TNA_CONSTANT_MARK + TNA_CONSTANT_##name) << 32 | 1));                        \
		value;                                                                                       \
	})

/*
 * What follows runs only if a condition holds that is known when the program is loaded. The instruction
 * for the other case is a place that nothing else jumps to: only so does the verifier remove the branch
 * itself and not just what it rules out.
 */
#define IF_KNOWN(condition)                                                                                  \
	if (unlikely(!(condition)))                                                                          \
		asm volatile("r0 = 0" : : : "r0");                                                           \
	else

/* In profiles with a constant. */
#define WHEN(name) IF_KNOWN(CONSTANT(name))

/* The same where the profiles without it are to have a straight line. */
#define WHEN_RARE(name)                                                                                      \
	if (likely(!CONSTANT(name)))                                                                         \
		asm volatile("r0 = 0" : : : "r0");                                                           \
	else

#endif
