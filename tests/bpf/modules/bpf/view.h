/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_TEST_VIEW_H
#define TNA_TEST_VIEW_H

#include <linux/types.h>

/* What a module was told about a frame. */
struct view {
	__u32 length;
	__u32 ingress;
	__u16 vlan_protocol;
	__u16 vlan_tci;
	__u16 ether_type;
	__u16 l3;
	__u16 l4;
	__u8 ip_version;
	__u8 protocol;
};

#endif
