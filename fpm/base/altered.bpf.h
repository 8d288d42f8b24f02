/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_ALTERED_H
#define TNA_BASE_ALTERED_H

#include "kernel/access.h"

/* Whether something was learnt of packets that netfilter translates or marks. In a section of its own, which
 * becomes a map of its own: the pipelines of all hooks share it with those who learn. */
__u32 altered SEC(".data.altered") = 0;

INLINE int any_altered(void)
{
	return *(volatile __u32 *)&altered;
}

#endif
