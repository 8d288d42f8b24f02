/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_TRANSLATED_H
#define TNA_BASE_TRANSLATED_H

#include "kernel/access.h"

/* Whether something was learnt of packets that connection tracking translates. In a section of its own, which
 * becomes a map of its own: the pipelines of all hooks share it with those who learn. */
__u32 translated SEC(".data.translated") = 0;

INLINE int any_translated(void)
{
	return *(volatile __u32 *)&translated;
}

#endif
