/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_FUNCTION_PROTOCOL_H
#define TNA_FUNCTION_PROTOCOL_H

/*
 * What tnad and libtna-function say to each other, by a Unix socket of the kind SOCK_SEQPACKET: a greeting,
 * an answer, and if that is no refusal as many messages as it says, each of which brings a socket. The
 * connection stays open for as long as the function wants its frames; when either ends it, none come any
 * more.
 */

#include <linux/types.h>

#define TNA_FUNCTION_PROTOCOL 3u
#define TNA_FUNCTION_NAME 32
#define TNA_FUNCTION_ALL_QUEUES (-1)

struct tna_function_greeting {
	__u32 protocol;
	__s32 queue; /* of each port, or all that the function has */
	char name[TNA_FUNCTION_NAME];
	__u32 gives_back; /* not 0: it is of no use without a way back */
};

enum tna_function_refusal {
	TNA_FUNCTION_WELCOME,
	TNA_FUNCTION_NOT_ALLOWED, /* trying again is of no use */
	TNA_FUNCTION_NOT_YET,     /* it may be later */
};

struct tna_function_answer {
	__u32 protocol;
	__u32 refusal; /* enum tna_function_refusal */
	__u32 sockets;
	__u32 ports; /* that it may name; not all of them need be there */
	__u32 frames;
	__u32 frame_size;
	char why[488]; /* a sentence */
};

/*
 * With it come the socket and the page where places are counted (struct tna_steer_page); with the first one,
 * before these, the memory.
 */
struct tna_function_socket {
	__u32 port; /* in the function's own order; TNA_FUNCTION_BACK: the way back to Linux */
	__u32 queue;
	__u32 ifindex;
	__u32 zero_copy;
	__u32 receives; /* of the way back: frames that other functions give on, with the tag that names the
			   port */
	char name[16];  /* of the port */
};
#define TNA_FUNCTION_BACK 0xffffffffu

#endif
