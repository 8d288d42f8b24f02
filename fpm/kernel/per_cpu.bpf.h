/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_PER_CPU_H
#define TNA_KERNEL_PER_CPU_H

/* What the kernel has of each CPU: how far this CPU's part is behind the address that stands for all of them.
 * An array of our own shows that, where both can be seen. */

#include "kernel/access.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} parts SEC(".maps");

/* A pointer as a number; to the verifier the difference of two is one. */
INLINE u64 number_of(const void *pointer)
{
	u64 number = (u64)pointer;

	asm volatile("%0 -= %1" : "+r"(number) : "r"(kernel_object(0)));
	return number;
}

/* This CPU's part of what is at an address of that kind; 0: there is none. */
INLINE u64 part_of_cpu(u64 address)
{
	const u32 zero = 0;
	const u64 *part = bpf_map_lookup_elem(&parts, &zero);

	if (!part || !address)
		return 0;
	return address + number_of(part) - KLOAD(u64, KADDR(struct bpf_array, number_of(&parts), pptrs));
}

#endif
