/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_REASON_H
#define TNA_BASE_REASON_H

/* How a module that evaluates a frame says why the frame is left to Linux. */

#include <tna/reasons.h>

#include "kernel/loop.bpf.h"

#define REASON_NONE TNA_REASON_COUNT

#define BECAUSE(test, reason)                                                                                \
	do {                                                                                                 \
		if (test)                                                                                    \
			return TNA_REASON_##reason;                                                          \
	} while (0)

/* Continues only with what a search has found, by address; if there is none, that has a reason of its own. */
#define SOUGHT(address, sought, reason)                                                                      \
	do {                                                                                                 \
		struct search sought_ = (sought);                                                            \
		BECAUSE(search_in_doubt(sought_), SEARCH);                                                   \
		BECAUSE(search_surely_none(sought_), reason);                                                \
		(address) = found_or_linux(sought_);                                                         \
	} while (0)

/* Continues only if a part found no reason. */
#define UNLESS_BECAUSE(part)                                                                                 \
	do {                                                                                                 \
		u32 reason_ = (part);                                                                        \
		if (reason_ != REASON_NONE)                                                                  \
			return reason_;                                                                      \
	} while (0)

#endif
