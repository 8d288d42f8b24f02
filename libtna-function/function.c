// SPDX-License-Identifier: Apache-2.0
/* Opening and closing, waiting and receiving. */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define DEFAULT_SOCKET "/run/tna/functions.sock"
#define RETRY 100 /* milliseconds between attempts to connect */
#define SPINS 256 /* so often a busy function looks whether tnad is there */

/*
 * The caller's options, which may have been compiled with another version of the structure: what an older
 * one does not have is as if it were not said, and what a newer one has and this library does not know must
 * not be said.
 */
static int take_options(struct tna_function_options *options, const struct tna_function_options *from)
{
	const size_t first = offsetof(struct tna_function_options, wait) + sizeof(from->wait);
	const char *bytes = (const char *)from;

	if (!from)
		return 0;
	if (from->size < first)
		return -EINVAL;
	for (size_t i = sizeof(*options); i < from->size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(options, from, from->size < sizeof(*options) ? from->size : sizeof(*options));
	if (options->reserved)
		return -E2BIG;
	return options->wait > TNA_FUNCTION_BUSY_POLL ? -EINVAL : 0;
}

int tna_function_open(struct tna_function **function, const char *name,
		      const struct tna_function_options *wanted)
{
	struct tna_function_options options = TNA_FUNCTION_OPTIONS;
	struct tna_function *made;
	const char *path;
	int error;

	*function = NULL;
	error = take_options(&options, wanted);
	if (error)
		return error;
	path = options.socket ? options.socket : getenv("TNA_FUNCTION_SOCKET");
	if (!path)
		path = DEFAULT_SOCKET;
	if (strlen(name) >= sizeof(made->name) || strlen(path) >= sizeof(made->path))
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	strcpy(made->name, name);
	strcpy(made->path, path);
	made->queue = options.queue;
	made->wait = options.wait;
	made->gives_back = options.gives_back != 0;
	made->control = made->asked = -1;
	*function = made;
	error = connect_function(made, INT64_MAX);
	return error == -EINTR ? -EAGAIN : error;
}

void tna_function_close(struct tna_function *function)
{
	if (!function)
		return;
	disconnect_function(function);
	forget_old_memory(function);
	free(function);
}

const char *tna_function_why(const struct tna_function *function)
{
	return function->why;
}

uint64_t tna_function_connections(const struct tna_function *function)
{
	return function->connections;
}

unsigned tna_function_ports(const struct tna_function *function)
{
	return function->ports;
}

const char *tna_function_port_name(const struct tna_function *function, unsigned port)
{
	return port < MOST_PORTS && function->by_port[port] ? function->by_port[port]->about.name : NULL;
}

/* What the kernel has sent is free again. */
static void reclaim(struct tna_function *function, struct socket_of_queue *socket)
{
	uint32_t count;

	if (!socket->sending)
		return;
	count = ring_filled(&socket->completion);
	if (count > socket->sending)
		count = socket->sending;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *entries = socket->completion.entries;
		uint64_t at = entries[socket->completion.mine++ & (socket->completion.size - 1)];

		/* each of them was lent until it was sent: it is in no other place */
		if (function->free_count < function->frames)
			function->free[function->free_count++] = at & ~(uint64_t)(function->frame_size - 1);
	}
	socket->sending -= count;
	if (count)
		ring_release(&socket->completion);
}

/* Gives the kernel places for frames, and then says so, so that it is never given more than it has places
 * for. */
static void refill(struct tna_function *function, struct socket_of_queue *socket)
{
	uint64_t *entries = socket->fill.entries;
	uint64_t wanted = function->share - (socket->given - socket->received);
	uint32_t vacant;

	/* few at a time cost more than they are worth, unless there are none */
	if (wanted > function->free_count)
		wanted = function->free_count;
	if (wanted * 8 < function->share && socket->given != socket->received)
		return;
	vacant = ring_vacant(&socket->fill);
	if (wanted > vacant)
		wanted = vacant;
	if (!wanted)
		return;
	for (uint64_t i = 0; i < wanted; i++)
		entries[socket->fill.mine++ & (socket->fill.size - 1)] =
			function->free[--function->free_count];
	ring_submit(&socket->fill);
	socket->given += wanted;
	__atomic_store_n(&socket->page->places, socket->given, __ATOMIC_RELEASE);
}

/* What another function has given on has a tag in front of its EtherType, with the port that it came in by.
 */
static void take_tag(struct tna_frame *frame)
{
	frame->port = frame->data[ADDRESSES + 3];
	frame->queue = 0;
	memmove(frame->data + TAG, frame->data, ADDRESSES);
	frame->data += TAG;
	frame->length -= TAG;
}

static unsigned take(struct tna_function *function, struct socket_of_queue *socket, struct tna_frame *frames,
		     unsigned most)
{
	const struct xdp_desc *entries = socket->receive.entries;
	uint32_t count = ring_filled(&socket->receive);

	if (count > most)
		count = most;
	for (uint32_t i = 0; i < count; i++) {
		const struct xdp_desc *entry = &entries[socket->receive.mine++ & (socket->receive.size - 1)];

		frames[i] = (struct tna_frame){.data = function->memory + entry->addr,
					       .length = entry->len,
					       .port = (uint16_t)socket->about.port,
					       .queue = (uint16_t)socket->about.queue,
					       .id = function->connections << 32 |
						     (uint32_t)(entry->addr / function->frame_size)};
		function->lent[entry->addr / function->frame_size] = 1;
		if (socket->about.port == TNA_FUNCTION_BACK)
			take_tag(&frames[i]);
	}
	if (count)
		ring_release(&socket->receive);
	socket->received += count;
	return count;
}

/* What there is already. */
static unsigned collect(struct tna_function *function, struct tna_frame *frames, unsigned most)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < function->count; i++)
		reclaim(function, &function->sockets[i]);
	for (uint32_t i = 0; i < function->count; i++) {
		struct socket_of_queue *socket = &function->sockets[(function->next + i) % function->count];

		if (!socket->about.receives)
			continue;
		refill(function, socket);
		count += take(function, socket, frames + count, most - count);
		if (function->wait == TNA_FUNCTION_BUSY_POLL ||
		    (*socket->fill.flags & XDP_RING_NEED_WAKEUP && function->wait == TNA_FUNCTION_BUSY))
			recvfrom(socket->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
	}
	function->next++;
	function->statistics.received += count;
	return count;
}

/* Whether nothing can come before the kernel has sent frames, which it wakes nobody for. */
static bool awaits_completions(const struct tna_function *function)
{
	bool sending = false, without_places = false;

	for (uint32_t i = 0; i < function->count; i++) {
		const struct socket_of_queue *socket = &function->sockets[i];

		sending |= socket->sending != 0;
		without_places |= socket->about.receives && socket->given == socket->received;
	}
	return sending && without_places;
}

/* Until something has come, tnad has gone, or the time is over. Wakes the kernel where it wants that. */
static int sleep_for(struct tna_function *function, int64_t milliseconds)
{
	struct pollfd watched[MOST_SOCKETS + 1];
	bool soon = awaits_completions(function);
	nfds_t count = 1;

	watched[0] = (struct pollfd){function->control, POLLIN, 0};
	for (uint32_t i = 0; i < function->count; i++) {
		/* what the kernel has not taken yet is tried again */
		soon |= function->sockets[i].kick;
		if (function->sockets[i].about.receives)
			watched[count++] = (struct pollfd){function->sockets[i].fd, POLLIN, 0};
	}
	if (soon && (milliseconds < 0 || milliseconds > 1))
		milliseconds = 1;
	if (poll(watched, count, milliseconds < 0 ? -1 : (int)milliseconds) < 0)
		return -errno;
	if (watched[0].revents)
		disconnect_function(function);
	return 0;
}

/* 0: connected, or to be tried again. */
static int connect_again(struct tna_function *function, int64_t left)
{
	struct timespec pause = {0, RETRY * 1000000L};
	int error = function->refused ? -EPERM
				      : connect_function(function, left < 0 || left > RETRY ? RETRY : left);

	if (error != -EAGAIN)
		return error;
	if (function->asked >= 0) /* has waited */
		return 0;
	if (left >= 0 && left < RETRY)
		pause.tv_nsec = left * 1000000L;
	return nanosleep(&pause, NULL) ? -EINTR : 0;
}

/* Once, without frames; 0, or why there will be none. */
static int wait_once(struct tna_function *function, int64_t left, unsigned spins)
{
	if (function->control < 0)
		return connect_again(function, left);
	if (function->wait == TNA_FUNCTION_POLL)
		return sleep_for(function, left);
	if (spins % SPINS == SPINS - 1 && has_ended(function))
		disconnect_function(function);
	return 0;
}

int tna_function_receive(struct tna_function *function, struct tna_frame *frames, unsigned most,
			 int milliseconds)
{
	int64_t until = milliseconds < 0 ? -1 : milliseconds ? now() + milliseconds : 0;
	unsigned count;

	for (unsigned spins = 0;; spins++) {
		int64_t left = -1;
		int error;

		if (function->control >= 0) {
			tna_function_flush(function);
			count = collect(function, frames, most);
			if (count)
				return (int)count;
		}
		if (milliseconds == 0 && function->control >= 0)
			return has_ended(function) ? (disconnect_function(function), 0) : 0;
		/* what sleeps has the time to look at the clock */
		if (until >= 0 &&
		    (function->wait == TNA_FUNCTION_POLL || function->control < 0 || spins % SPINS == 0)) {
			left = until - now();
			if (left <= 0 && spins)
				return 0;
			if (left < 0)
				left = 0;
		}
		error = wait_once(function, left, spins);
		if (error)
			return error;
	}
}
