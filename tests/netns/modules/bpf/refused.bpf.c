// SPDX-License-Identifier: GPL-2.0
/* A module that the verifier does not take: it reads beyond what it knows the frame to have. */
#include <tna/module.h>

TNA_INGRESS(packet)
{
	__u8 *data = (__u8 *)(long)packet->ctx->data;

	return data[100] ? TNA_DROP : TNA_CONTINUE;
}
