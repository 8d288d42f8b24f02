/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_ACCESS_H
#define TNA_KERNEL_ACCESS_H

/*
 * Reading the kernel's own structures in place.
 *
 * Addresses travel as plain numbers (u64), so that they can be compared and OR-ed; they become
 * readable by KOBJ(), a cast which the verifier turns into a register move. Loads through it cannot
 * fault: where the address is not mapped they give 0 (BPF_PROBE_MEM). bpf_rdonly_cast() takes type
 * 0 (void, any offset, gives plain numbers) since 6.17.
 */

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "kernel/types.h"

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym;

/* The object of type T at an address. */
#define KOBJ(T, address) ((T *)bpf_rdonly_cast((const void *)(u64)(address), 0))

/* A field as a number of type N; one load instruction, its offset is relocated. */
#define KGET(N, object, field) (*(N *)__builtin_preserve_access_index(&(object)->field))

/* The address of a field, from the address of its object. */
#define KADDR(T, address, field) ((address) + bpf_core_field_offset(T, field))

/* Whether two eight-byte fields are neighbours; the verifier knows, and removes the other branch. */
#define KNEIGHBOURS(T, first, second)                                                                        \
	(bpf_core_field_offset(T, second) == bpf_core_field_offset(T, first) + 8)

/* Eight bytes from the middle of a field on: its upper bytes and the next one's lower ones. */
#define KSTRADDLE(T, object, field, byte)                                                                    \
	(*(u64 *)((u8 *)(object) + bpf_core_field_offset(T, field) + (byte)))

/* A number at an address. */
#define KLOAD(N, address) (*(N *)bpf_rdonly_cast((const void *)(u64)(address), 0))

/*
 * Tests are collected in one word that is 0 while nothing is in the way. The barrier keeps clang from
 * sinking the tests below later loads, which would spill every intermediate value.
 */
#define COLLECT(word, test)                                                                                  \
	do {                                                                                                 \
		(word) |= (u64)(test);                                                                       \
		asm volatile("" : "+r"(word));                                                               \
	} while (0)

#define INLINE static __always_inline
#define NOINLINE static __attribute__((noinline))

#endif
