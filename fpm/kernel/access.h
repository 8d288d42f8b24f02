/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_ACCESS_H
#define TNA_KERNEL_ACCESS_H

/*
 * Reading the kernel's own structures in place.
 *
 * Addresses travel as plain numbers (u64), so that they can be compared and OR-ed. They become
 * readable by KOBJ(): the address is added to a readable region that starts at 0 and has no end, which
 * is what bpf_rdonly_cast(0, 0) yields since 6.17 (type 0: void, any offset, gives plain numbers).
 * Loads through it cannot fault: where the address is not mapped they give 0 (BPF_PROBE_MEM).
 *
 * Before 6.17 (since 6.2) a cast needs a structure, whose fields decide what a load may be
 * (TNA_TYPED_CASTS). One whose last member is an array of numbers without a length allows any constant
 * offset from 0 on, and gives plain numbers (btf_struct_walk()); bpf_raw_tracepoint_args is nothing but
 * such an array. Each object needs a cast of its own then: the kernel takes no variable offset.
 */

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "kernel/buffer_types.h"
#include "kernel/types.h"

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
/* const: the same arguments give the same pointer, one call per function is enough */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __attribute__((const));

#ifdef TNA_TYPED_CASTS
#define KCAST_TYPE bpf_core_type_id_kernel(struct bpf_raw_tracepoint_args)

static __always_inline void *kernel_object(u64 address)
{
	return bpf_rdonly_cast((const void *)address, KCAST_TYPE);
}
#else
#define KCAST_TYPE 0

/*
 * The sum is formed in the pointer's register: "number += pointer" is a number to the verifier, and
 * clang is free to choose that order.
 */
static __always_inline void *kernel_object(u64 address)
{
	void *object = bpf_rdonly_cast(NULL, KCAST_TYPE);

	asm("%0 += %1" : "+r"(object) : "r"(address));
	return object;
}
#endif

/* The object of type T at an address. */
#define KOBJ(T, address) ((T *)kernel_object(address))

/* What the verifier knows as a pointer to something, read as a T. */
#define KCAST(T, pointer) ((T *)bpf_rdonly_cast(pointer, KCAST_TYPE))

/* A field as a number of type N; one load instruction, its offset is relocated. */
#define KGET(N, object, field) (*(N *)__builtin_preserve_access_index(&(object)->field))

/* The address of a field, from the address of its object. */
#define KADDR(T, address, field) ((address) + bpf_core_field_offset(T, field))

/*
 * Whether a field begins where an eight-byte field ends. The fast path asks for the constant PACKED,
 * which stands for all pairs that it would like to read in one load.
 */
#define KNEIGHBOURS(T, first, second)                                                                        \
	(bpf_core_field_offset(T, second) == bpf_core_field_offset(T, first) + 8)

/* Eight bytes from the middle of a field on: its upper bytes and the next one's lower ones. */
#define KSTRADDLE(T, object, field, byte)                                                                    \
	(*(u64 *)((u8 *)(object) + bpf_core_field_offset(T, field) + (byte)))

/* A number at an address. */
#define KLOAD(N, address) (*(N *)kernel_object(address))

/*
 * Tests are collected in a word that is 0 while nothing is in the way. The barrier keeps clang from
 * sinking the tests below later loads, which would spill every intermediate value.
 */
#define COLLECT(word, test)                                                                                  \
	do {                                                                                                 \
		(word) |= (u64)(test);                                                                       \
		asm volatile("" : "+r"(word));                                                               \
	} while (0)

/*
 * Goes to a label when "number condition" holds. The common way stays a straight line: clang would
 * jump around the rare block, and a jump that is taken costs as much as a load.
 */
#define RARELY(number, condition, label)                                                                     \
	asm goto("if %0 " condition " goto %l[" #label "]" : : "r"(number) : : label)

#define likely(test) __builtin_expect(!!(test), 1)
#define unlikely(test) __builtin_expect(!!(test), 0)

#define INLINE static __always_inline
#define NOINLINE static __attribute__((noinline))

/* A function that the verifier follows by itself, not once for each call: it knows nothing of its callers,
 * and takes numbers, and pointers to memory, which it has to look whether they are NULL. */
#ifndef APART
#define APART __attribute__((noinline))
#endif

#endif
