// SPDX-License-Identifier: Apache-2.0
/* How a function gets its memory and its sockets from tnad (tna/function_protocol.h). */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 5000 /* milliseconds, with a tnad that says nothing */
#define MOST_DESCRIPTORS 3

int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* A message, with the descriptors that come with it; false: there is none. */
static bool hear(int from, void *message, size_t size, int *descriptors, unsigned *count)
{
	struct pollfd watched = {from, POLLIN, 0};
	struct iovec part = {message, size};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control)};
	struct cmsghdr *rights;

	*count = 0;
	if (poll(&watched, 1, PATIENCE) != 1 || recvmsg(from, &header, MSG_CMSG_CLOEXEC) != (ssize_t)size)
		return false;
	rights = CMSG_FIRSTHDR(&header);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
		*count = (unsigned)((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(descriptors, CMSG_DATA(rights), *count * sizeof(int));
	}
	return true;
}

static void say(struct tna_function *function, const char *why, int error)
{
	snprintf(function->why, sizeof(function->why), "%s%s%s", why, error ? ": " : "",
		 error ? strerror(error) : "");
}

/* Does not wait: tnad may be slow, or stopped. */
static int call_tnad(struct tna_function *function)
{
	struct tna_function_greeting greeting = {.protocol = TNA_FUNCTION_PROTOCOL,
						 .queue = function->queue,
						 .gives_back = function->gives_back};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(greeting.name, function->name, sizeof(greeting.name));
	memcpy(address.sun_path, function->path, sizeof(address.sun_path));
	function->asked = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (function->asked < 0 ||
	    connect(function->asked, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    send(function->asked, &greeting, sizeof(greeting), MSG_NOSIGNAL) != (ssize_t)sizeof(greeting)) {
		snprintf(function->why, sizeof(function->why), "tnad does not answer at %s: %s",
			 function->path, strerror(errno));
		return -EAGAIN;
	}
	function->patience = now() + PATIENCE;
	return 0;
}

/* 0: there is an answer, or tnad has hung up; or -EAGAIN, -EINTR. */
static int await_answer(struct tna_function *function, int64_t milliseconds)
{
	struct pollfd watched = {function->asked, POLLIN, 0};
	int64_t left = function->patience - now();
	int count;

	if (left < 0)
		left = 0;
	if (milliseconds > left)
		milliseconds = left;
	count = poll(&watched, 1, (int)milliseconds);
	if (count == 1)
		return 0;
	say(function, "tnad does not answer yet", 0);
	return count < 0 ? -EINTR : -EAGAIN;
}

static bool is_sound(const struct tna_function_answer *answer)
{
	return answer->protocol == TNA_FUNCTION_PROTOCOL && answer->sockets > 0 &&
	       answer->sockets <= MOST_SOCKETS && answer->ports <= MOST_PORTS && answer->frames >= 2 &&
	       !(answer->frames & (answer->frames - 1)) && answer->frame_size >= 2048 &&
	       !(answer->frame_size & (answer->frame_size - 1));
}

static int ask(struct tna_function *function, struct tna_function_answer *answer)
{
	int descriptors[MOST_DESCRIPTORS];
	unsigned count;

	if (!hear(function->control, answer, sizeof(*answer), descriptors, &count)) {
		say(function, "tnad has hung up", 0);
		return -EAGAIN;
	}
	answer->why[sizeof(answer->why) - 1] = 0;
	if (answer->refusal != TNA_FUNCTION_WELCOME) {
		say(function, answer->why, 0);
		return answer->refusal == TNA_FUNCTION_NOT_ALLOWED ? -EPERM : -EAGAIN;
	}
	if (!is_sound(answer)) {
		say(function, "tnad speaks another protocol", 0);
		return -EPERM;
	}
	return 0;
}

static int take_memory(struct tna_function *function, int fd)
{
	void *at = mmap(NULL, function->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (at == MAP_FAILED)
		return -errno;
	function->memory = at;
	return 0;
}

/* One of the sockets; the first one comes with the memory. */
static int take_socket(struct tna_function *function, struct socket_of_queue *socket)
{
	int descriptors[MOST_DESCRIPTORS];
	unsigned count, i = 0;
	bool first = !function->memory;
	int error = 0;
	void *page;

	if (!hear(function->control, &socket->about, sizeof(socket->about), descriptors, &count))
		return -EPIPE;
	if (count != (first ? 3U : 2U)) {
		while (i < count)
			close(descriptors[i++]);
		return -EPROTO;
	}
	if (first)
		error = take_memory(function, descriptors[i++]);
	socket->fd = descriptors[i];
	page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[i + 1], 0);
	close(descriptors[i + 1]);
	if (page == MAP_FAILED)
		return -errno;
	socket->page = page;
	return error ? error : map_rings(socket, function->frames);
}

/*
 * The device is looked at by who receives from the socket (xsk_recvmsg()), for so many microseconds and
 * frames, and its interrupts are put off as long as that happens.
 */
static int prefer_busy_poll(struct tna_function *function, const struct socket_of_queue *socket)
{
	const struct {
		int option, value;
	} wanted[] = {{SO_PREFER_BUSY_POLL, 1}, {SO_BUSY_POLL, 20}, {SO_BUSY_POLL_BUDGET, 64}};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!setsockopt(socket->fd, SOL_SOCKET, wanted[i].option, &wanted[i].value,
				sizeof(wanted[i].value)))
			continue;
		if (errno == EPERM)
			say(function,
			    "busy polling by system calls (SO_PREFER_BUSY_POLL) needs CAP_NET_ADMIN; "
			    "TNA_FUNCTION_BUSY does not",
			    0);
		else
			say(function, "the kernel has no busy polling by system calls", errno);
		return -EPERM; /* it will not be otherwise later */
	}
	return 0;
}

/* Whom frames are sent by, and how many places each socket has: half of the frames are for sending. */
static void arrange(struct tna_function *function)
{
	uint32_t receiving = 0;

	for (uint32_t i = 0; i < function->count; i++) {
		struct socket_of_queue *socket = &function->sockets[i];

		receiving += socket->about.receives ? 1 : 0;
		if (socket->about.port == TNA_FUNCTION_BACK)
			function->back = socket;
		if (socket->about.port < MOST_PORTS && !function->by_port[socket->about.port])
			function->by_port[socket->about.port] = socket;
	}
	function->share = receiving ? function->frames / (2 * receiving) : 0;
	for (uint32_t i = 0; i < function->frames; i++)
		function->free[i] = (uint64_t)i * function->frame_size;
	function->free_count = function->frames;
}

static int take_all(struct tna_function *function)
{
	struct tna_function_answer answer;
	int error = ask(function, &answer);

	if (error)
		return error;
	function->frames = answer.frames;
	function->frame_size = answer.frame_size;
	function->size = (size_t)answer.frames * answer.frame_size;
	function->ports = answer.ports;
	function->free = calloc(answer.frames, sizeof(*function->free));
	function->sockets = calloc(answer.sockets, sizeof(*function->sockets));
	function->lent = calloc(answer.frames, sizeof(*function->lent));
	if (!function->free || !function->lent || !function->sockets) {
		say(function, "there is no memory", 0);
		return -EAGAIN;
	}
	for (uint32_t i = 0; i < answer.sockets; i++) {
		function->sockets[i].fd = -1;
		function->count++;
		error = take_socket(function, &function->sockets[i]);
		if (error) {
			say(function, "cannot use what tnad has handed over", -error);
			return -EAGAIN;
		}
		if (function->wait == TNA_FUNCTION_BUSY_POLL && function->sockets[i].about.receives) {
			error = prefer_busy_poll(function, &function->sockets[i]);
			if (error)
				return error;
		}
	}
	arrange(function);
	return 0;
}

/* There have been no frames in it: those of before are looked at as long as there are no others. */
static void leave_memory(struct tna_function *function)
{
	if (function->memory)
		munmap(function->memory, function->size);
	function->memory = NULL;
}

static void hang_up(struct tna_function *function)
{
	if (function->asked >= 0)
		close(function->asked);
	function->asked = -1;
}

int connect_function(struct tna_function *function, int64_t milliseconds)
{
	int error = function->asked < 0 ? call_tnad(function) : 0;

	if (!error) {
		error = await_answer(function, milliseconds);
		if (error == -EINTR || (error && now() < function->patience))
			return error;
	}
	if (error) {
		hang_up(function);
		return error;
	}
	function->control = function->asked;
	function->asked = -1;
	error = take_all(function);
	if (error) {
		leave_memory(function);
		disconnect_function(function);
		function->refused = error == -EPERM;
		return error;
	}
	function->why[0] = 0;
	function->connections++;
	return 0;
}

void forget_old_memory(struct tna_function *function)
{
	if (function->old_memory)
		munmap(function->old_memory, function->old_size);
	function->old_memory = NULL;
}

void disconnect_function(struct tna_function *function)
{
	hang_up(function);
	for (uint32_t i = 0; i < function->count; i++) {
		struct socket_of_queue *socket = &function->sockets[i];

		unmap_rings(socket);
		if (socket->page)
			munmap(socket->page, (size_t)getpagesize());
		if (socket->fd >= 0)
			close(socket->fd);
	}
	if (function->control >= 0)
		close(function->control);
	if (function->memory) {
		forget_old_memory(function);
		function->old_memory = function->memory;
		function->old_size = function->size;
	}
	free(function->sockets);
	free(function->free);
	free(function->lent);
	function->control = -1;
	function->memory = NULL;
	function->sockets = NULL;
	function->free = NULL;
	function->lent = NULL;
	function->back = NULL;
	function->count = function->free_count = function->ports = 0;
	memset(function->by_port, 0, sizeof(function->by_port));
}

bool has_ended(const struct tna_function *function)
{
	char ignored;
	ssize_t got = recv(function->control, &ignored, 1, MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
