/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BENCH_GUARDS_SHARED_H
#define TNA_BENCH_GUARDS_SHARED_H

#define GUARD_REPEATS 32

#endif
