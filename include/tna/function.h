/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_FUNCTION_H
#define TNA_FUNCTION_H

/*
 * libtna-function: network functions in user space. tnad hands such a process memory and AF_XDP sockets; it
 * needs no capability. tna_function(3) is the manual.
 *
 * An object is for one thread. Several threads have an object each, with a queue of its own.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tna_function;

/*
 * A frame in the function's memory. It is the caller's until it is sent, given back or dropped; all that the
 * caller has is void when the function has been connected anew (tna_function_connections() is another
 * number). `data` and `length` may be changed, within the frame's room.
 */
struct tna_frame {
	uint8_t *data;
	uint32_t length;
	uint16_t port; /* by which it came in, in the order of the declaration */
	uint16_t queue;
	uint64_t id; /* the library's */
};

enum tna_function_wait {
	TNA_FUNCTION_POLL, /* sleep until there is something: poll(2) */
	TNA_FUNCTION_BUSY, /* never sleep */
	/* never sleep, and have the kernel look at the device within the function's own calls
	   (SO_PREFER_BUSY_POLL); needs CAP_NET_ADMIN */
	TNA_FUNCTION_BUSY_POLL,
};

struct tna_function_options {
	size_t size;        /* of this structure */
	const char *socket; /* of tnad; NULL: TNA_FUNCTION_SOCKET in the environment, or
			       /run/tna/functions.sock */
	int queue;          /* of each port; TNA_FUNCTION_QUEUES: all that the declaration has */
	enum tna_function_wait wait;
	int gives_back; /* not 0: it does not connect while there is no way back to Linux */
	int reserved;   /* 0: what it will mean is not known yet */
};
#define TNA_FUNCTION_QUEUES (-1)
#define TNA_FUNCTION_OPTIONS                                                                                 \
	{sizeof(struct tna_function_options), NULL, TNA_FUNCTION_QUEUES, TNA_FUNCTION_POLL, 0, 0}

/*
 * Connects as the function of this name. `options` may be NULL. 0; or an errno, negative: -EAGAIN where the
 * function may be connected later, which tna_function_receive() goes on trying; else there is no object, but
 * for -EPERM, whose tna_function_why() says more. -E2BIG: the options say something that this library, which
 * is older than the program, does not know.
 */
int tna_function_open(struct tna_function **function, const char *name,
		      const struct tna_function_options *options);
void tna_function_close(struct tna_function *function);
/* Why it is not connected, a sentence; "" if it is. */
const char *tna_function_why(const struct tna_function *function);
/* How often it has been connected. */
uint64_t tna_function_connections(const struct tna_function *function);

/*
 * Sends what is to be sent, and waits until there are frames: at most `milliseconds`, -1: for ever. How many
 * there are, 0 after that time, -EINTR after a signal, -EPERM if tnad refuses the function for good. Where
 * tnad has gone, it is waited for, and connected to again.
 */
int tna_function_receive(struct tna_function *function, struct tna_frame *frames, unsigned most,
			 int milliseconds);

/*
 * What becomes of a frame. 0; -EAGAIN: there is no room now, the frame is the caller's still; -EINVAL: there
 * is no such port now, or the frame is empty, does not lie in its room, or has been sent or dropped before;
 * -ESTALE: it is one of an earlier connection, and gone.
 */
int tna_function_send(struct tna_function *function, const struct tna_frame *frame, unsigned port);
/* To Linux, as if it had just come in by frame->port. -EOPNOTSUPP: there is no way back (before Linux 6.6).
 */
int tna_function_give_back(struct tna_function *function, const struct tna_frame *frame);
void tna_function_drop(struct tna_function *function, const struct tna_frame *frame);

/* A frame that is empty, to be filled and sent. -EAGAIN: there is none now. */
int tna_function_new_frame(struct tna_function *function, struct tna_frame *frame);
/* How many bytes the frame can grow by, at its front and at its end. */
int tna_function_room(const struct tna_function *function, const struct tna_frame *frame, uint32_t *front,
		      uint32_t *end);
/* Sends now what has been handed to tna_function_send() and tna_function_give_back(). */
void tna_function_flush(struct tna_function *function);

unsigned tna_function_ports(const struct tna_function *function);
/* NULL: it is not there now. */
const char *tna_function_port_name(const struct tna_function *function, unsigned port);

struct tna_function_counts {
	uint64_t received;
	uint64_t sent;
	uint64_t given_back;
	uint64_t dropped;
	uint64_t lost;         /* dropped by the kernel, which had no place for them */
	uint64_t invalid;      /* descriptors that the kernel has refused */
	uint64_t reserved[10]; /* 0; for what later libraries count, which write it to all callers */
};
/* Since it was opened; the last two since it was connected last. */
void tna_function_count(const struct tna_function *function, struct tna_function_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
