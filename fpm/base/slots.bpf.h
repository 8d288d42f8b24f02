/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_SLOTS_H
#define TNA_BASE_SLOTS_H

/* What a namespace's fast path has found out about it, and which slot each of its ports has. The pipeline
 * shares both with what sees drivers refuse frames (refusals/refusals.bpf.c). */

#include <tna/fastpath.h>

#include "kernel/access.h"

/* In a section of its own, which becomes a map of its own. */
struct tna_namespace home SEC(".data.home") = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_port_slot);
} port_slots SEC(".maps");

#endif
