/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PIPELINE_REASON_H
#define TNA_PIPELINE_REASON_H

/* How a module that evaluates a frame says why the frame is left to Linux. */

#include <tna/reasons.h>

#define REASON_NONE TNA_REASON_COUNT

#define BECAUSE(test, reason)                                                                                \
	do {                                                                                                 \
		if (test)                                                                                    \
			return TNA_REASON_##reason;                                                          \
	} while (0)

/* Continues only if a part found no reason. */
#define UNLESS_BECAUSE(part)                                                                                 \
	do {                                                                                                 \
		u32 reason_ = (part);                                                                        \
		if (reason_ != REASON_NONE)                                                                  \
			return reason_;                                                                      \
	} while (0)

#endif
