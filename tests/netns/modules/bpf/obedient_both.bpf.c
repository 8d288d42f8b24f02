// SPDX-License-Identifier: GPL-2.0
/* The same for ports at tcx as well. */
#define TNA_MODULE_AT_TCX
#include "obedient.bpf.c"
