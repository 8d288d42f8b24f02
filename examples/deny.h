/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What deny.bpf.c and guard.c share. */
#ifndef DENY_H
#define DENY_H

#include <linux/types.h>

#define DENY_PLACES 65536

struct denied {
	__u32 source;  /* IPv4, in network order; 0: nobody */
	__u32 packets; /* that were dropped */
};

static inline __u32 deny_place(__u32 source)
{
	return source * 0x9e3779b1U >> 16;
}

#endif
