/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TNA_FUNCTION_INTERNAL_H
#define TNA_FUNCTION_INTERNAL_H

#include <linux/if_xdp.h>
#include <stdbool.h>
#include <tna/function.h>
#include <tna/function_protocol.h>
#include <tna/steer.h>

#define MOST_SOCKETS 1024
#define MOST_PORTS 16

/* of frames that come and go by the way back */
#define ADDRESSES 12 /* two MAC addresses */
#define TAG 4

/* A ring of an AF_XDP socket, which the kernel has the other end of. */
struct ring {
	uint32_t *producer;
	uint32_t *consumer;
	uint32_t *flags;
	void *entries;
	uint32_t size;
	uint32_t mine; /* the index that this end moves */
	void *mapped;
	size_t length;
};

struct socket_of_queue {
	int fd;
	struct tna_function_socket about;
	struct ring fill, completion, receive, send;
	struct tna_steer_page *page;
	uint64_t given;    /* places for frames, to the kernel */
	uint64_t received; /* of those */
	uint32_t sending;  /* frames that have not come back */
	bool kick;         /* the kernel is to be told of what is to be sent */
};

struct tna_function {
	char name[TNA_FUNCTION_NAME];
	char path[108];
	int queue;
	enum tna_function_wait wait;
	bool gives_back;
	char why[512];
	uint64_t connections;
	bool refused; /* for good */

	/* tnad has been asked and has not answered yet, -1: it has not been asked */
	int asked;
	int64_t patience; /* until then */

	/* of the present connection */
	int control; /* -1: there is none */
	uint8_t *memory;
	size_t size;
	uint32_t frame_size;
	uint32_t frames;
	uint32_t ports;
	uint32_t share; /* places that each receiving socket has */
	uint32_t count;
	struct socket_of_queue *sockets;
	struct socket_of_queue *back; /* NULL: there is no way back */
	struct socket_of_queue *by_port[MOST_PORTS];
	uint64_t *free;
	uint8_t *lent; /* of each piece: whether it is the caller's */
	uint32_t free_count;
	uint32_t next; /* socket to be looked at first */

	/* what frames of before may still be looked at in */
	uint8_t *old_memory;
	size_t old_size;

	struct tna_function_counts statistics;
};

/* connection.c: 0, -EAGAIN, -EINTR or -EPERM. Waits for tnad's answer so long at most; -EAGAIN, with
 * function->asked: it has not come yet, and is waited for by the next call. */
int connect_function(struct tna_function *function, int64_t milliseconds);
void disconnect_function(struct tna_function *function);
void forget_old_memory(struct tna_function *function);
int64_t now(void); /* milliseconds */
/* Whether tnad has ended it. */
bool has_ended(const struct tna_function *function);

/* rings.c */
int map_rings(struct socket_of_queue *socket, uint32_t frames);
void unmap_rings(struct socket_of_queue *socket);
uint32_t ring_filled(struct ring *ring); /* what the kernel has put there */
uint32_t ring_vacant(struct ring *ring); /* places for what the kernel is to have */
void ring_submit(struct ring *ring);
void ring_release(struct ring *ring);

#endif
