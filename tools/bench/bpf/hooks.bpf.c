// SPDX-License-Identifier: GPL-2.0
/* A custom module that does nothing: what remains is the price of its hooks. */
#include <tna/module.h>

TNA_INGRESS(packet)
{
	(void)packet;
	return TNA_CONTINUE;
}

TNA_BRIDGE(packet)
{
	(void)packet;
	return TNA_CONTINUE;
}
