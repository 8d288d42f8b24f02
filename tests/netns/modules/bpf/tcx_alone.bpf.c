// SPDX-License-Identifier: GPL-2.0
/* An object by hand, with a function for tcx that it does not have for XDP. */
#include <tna/module.h>

TNA_BRIDGE(packet)
{
	return TNA_CONTINUE;
}

SEC("tc") int tna_tcx_on_ingress(struct __sk_buff *skb)
{
	return skb->len ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}
