// SPDX-License-Identifier: Apache-2.0
/* What becomes of frames. */
#include "internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define KERNEL_ROOM 256 /* before what is received (XDP_PACKET_HEADROOM) */

/* Where the frame's piece of the memory begins. */
static uint64_t piece_of(const struct tna_function *function, const struct tna_frame *frame)
{
	return (frame->id & 0xffffffff) * function->frame_size;
}

/* Whether a piece is the caller's: what has been sent or dropped is not. */
static bool is_lent(const struct tna_function *function, const struct tna_frame *frame)
{
	return (frame->id & 0xffffffff) < function->frames && function->lent[frame->id & 0xffffffff];
}

static void take_back(struct tna_function *function, const struct tna_frame *frame)
{
	function->lent[frame->id & 0xffffffff] = 0;
}

/* 0, or why it cannot be a frame of this connection that lies in its piece. */
static int check(const struct tna_function *function, const struct tna_frame *frame)
{
	uint64_t at, piece = piece_of(function, frame);

	if (frame->id >> 32 != function->connections || function->control < 0)
		return -ESTALE;
	at = (uint64_t)(frame->data - function->memory);
	if (!is_lent(function, frame) || at < piece || at - piece > function->frame_size ||
	    frame->length > function->frame_size - (at - piece))
		return -EINVAL;
	return 0;
}

static int submit(struct tna_function *function, struct socket_of_queue *socket, uint64_t at, uint32_t length)
{
	struct xdp_desc *entries = socket->send.entries;

	if (!ring_vacant(&socket->send)) {
		tna_function_flush(function);
		if (!ring_vacant(&socket->send))
			return -EAGAIN;
	}
	entries[socket->send.mine++ & (socket->send.size - 1)] = (struct xdp_desc){.addr = at, .len = length};
	socket->sending++;
	socket->kick = true;
	return 0;
}

int tna_function_send(struct tna_function *function, const struct tna_frame *frame, unsigned port)
{
	int error = check(function, frame);
	struct socket_of_queue *socket = NULL;

	if (error)
		return error;
	/* what is empty, the kernel takes for a mistake, and does not give back (xp_aligned_validate_desc())
	 */
	if (!frame->length)
		return -EINVAL;
	/* by the queue that it came in by, if the port has it */
	for (uint32_t i = 0; i < function->count && port < MOST_PORTS; i++)
		if (function->sockets[i].about.port == port &&
		    function->sockets[i].about.queue == frame->queue) {
			socket = &function->sockets[i];
			break;
		}
	if (!socket && port < MOST_PORTS)
		socket = function->by_port[port];
	if (!socket)
		return -EINVAL;
	error = submit(function, socket, (uint64_t)(frame->data - function->memory), frame->length);
	if (error)
		return error;
	take_back(function, frame);
	function->statistics.sent++;
	return 0;
}

/* A tag in front of the EtherType says by which port it came in (fpm/steer/back.bpf.c takes it off). */
int tna_function_give_back(struct tna_function *function, const struct tna_frame *frame)
{
	int error = check(function, frame);
	uint8_t *front = frame->data - TAG;
	uint64_t at;

	if (error)
		return error;
	if (!function->back)
		return -EOPNOTSUPP;
	at = (uint64_t)(frame->data - function->memory);
	if (at - piece_of(function, frame) < TAG || frame->length < ADDRESSES + 2 ||
	    frame->port >= function->ports)
		return -EINVAL;
	if (!ring_vacant(&function->back->send)) {
		tna_function_flush(function);
		if (!ring_vacant(&function->back->send))
			return -EAGAIN;
	}
	memmove(front, frame->data, ADDRESSES);
	front[ADDRESSES] = TNA_BACK_ETHERTYPE >> 8;
	front[ADDRESSES + 1] = TNA_BACK_ETHERTYPE & 0xff;
	front[ADDRESSES + 2] = 0;
	front[ADDRESSES + 3] = (uint8_t)frame->port;
	error = submit(function, function->back, at - TAG, frame->length + TAG);
	if (error)
		return error;
	take_back(function, frame);
	function->statistics.given_back++;
	return 0;
}

void tna_function_drop(struct tna_function *function, const struct tna_frame *frame)
{
	uint64_t piece = piece_of(function, frame);

	if (frame->id >> 32 != function->connections || function->control < 0 || !is_lent(function, frame))
		return;
	take_back(function, frame);
	function->free[function->free_count++] = piece;
	function->statistics.dropped++;
}

int tna_function_new_frame(struct tna_function *function, struct tna_frame *frame)
{
	uint64_t piece;

	if (function->control < 0 || !function->free_count)
		return -EAGAIN;
	piece = function->free[--function->free_count];
	function->lent[piece / function->frame_size] = 1;
	*frame = (struct tna_frame){.data = function->memory + piece + KERNEL_ROOM,
				    .id = function->connections << 32 |
					  (uint32_t)(piece / function->frame_size)};
	return 0;
}

int tna_function_room(const struct tna_function *function, const struct tna_frame *frame, uint32_t *front,
		      uint32_t *end)
{
	int error = check(function, frame);

	if (error)
		return error;
	*front = (uint32_t)((uint64_t)(frame->data - function->memory) - piece_of(function, frame));
	*end = function->frame_size - *front - frame->length;
	return 0;
}

/* In copy mode, a call sends a few frames only, and says that there are more. */
static void kick(struct socket_of_queue *socket)
{
	uint32_t before, after = __atomic_load_n(socket->send.consumer, __ATOMIC_ACQUIRE);

	ring_submit(&socket->send);
	socket->kick = false;
	do {
		before = after;
		if (!(__atomic_load_n(socket->send.flags, __ATOMIC_ACQUIRE) & XDP_RING_NEED_WAKEUP))
			return;
		if (sendto(socket->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) == 0)
			return;
		after = __atomic_load_n(socket->send.consumer, __ATOMIC_ACQUIRE);
	} while (before != after && after != socket->send.mine);
	/* what is left is tried again */
	socket->kick = after != socket->send.mine;
}

void tna_function_flush(struct tna_function *function)
{
	for (uint32_t i = 0; i < function->count; i++)
		if (function->sockets[i].kick)
			kick(&function->sockets[i]);
}

void tna_function_count(const struct tna_function *function, struct tna_function_counts *counts)
{
	*counts = function->statistics;
	for (uint32_t i = 0; i < function->count; i++) {
		struct xdp_statistics counted = {0};
		socklen_t size = sizeof(counted);

		if (getsockopt(function->sockets[i].fd, SOL_XDP, XDP_STATISTICS, &counted, &size) != 0)
			continue;
		counts->lost += counted.rx_dropped + counted.rx_ring_full;
		counts->invalid += counted.rx_invalid_descs + counted.tx_invalid_descs;
	}
}
