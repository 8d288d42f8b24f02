/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BENCH_DELAYS_SHARED_H
#define TNA_BENCH_DELAYS_SHARED_H

#define PROBE_TYPE 0x88b5 /* of IEEE 802, for local experiments: no other program waits for it */

#endif
