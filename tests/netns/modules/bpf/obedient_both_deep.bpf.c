// SPDX-License-Identifier: GPL-2.0
/* The same with as much on its stack as a program may have, less what it needs itself. */
#define DEPTH 440
#include "obedient_both.bpf.c"
