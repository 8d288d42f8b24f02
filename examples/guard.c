// SPDX-License-Identifier: Apache-2.0
/*
 * A network function and a custom module that share a map: the function decides about sources with all the
 * memory and time that it needs, and deny.bpf.c drops their packets without it. This one gets beginnings of
 * TCP connections, gives them back to Linux, and denies who begins too many in a second.
 *
 *	cc guard.c $(pkg-config --cflags --libs tna-function libbpf) -o guard
 *	./guard NAME MAP MOST [SOCKET]
 *
 * NAME is declared with rules of `protocol = "tcp"` and `tcp_flags = "syn,!ack"` and with `users =
 *["nobody"]`; MAP is the id of `denied` that `tnactl module show deny` tells. It is opened as root; then the
 *function is nobody, and has no capability. Denied is for as long as the module is there.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <tna/function.h>
#include <unistd.h>

#include "deny.h"

struct beginner {
	__u32 source;
	__u32 count;
	time_t second;
};

static struct beginner beginners[DENY_PLACES];

static struct denied *open_map(__u32 id)
{
	int fd = bpf_map_get_fd_by_id(id);
	void *memory = fd < 0 ? MAP_FAILED
			      : mmap(NULL, sizeof(struct denied) * DENY_PLACES, PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int become_nobody(void)
{
	const struct passwd *nobody = getpwnam("nobody");

	return nobody && !setgroups(0, NULL) && !setgid(nobody->pw_gid) && !setuid(nobody->pw_uid) ? 0 : -1;
}

/* Of an untagged IPv4 packet; 0: it is another one. */
static __u32 source_of(const struct tna_frame *frame)
{
	__u32 source = 0;

	if (frame->length >= 34 && frame->data[12] == 0x08 && frame->data[13] == 0x00)
		memcpy(&source, frame->data + 26, sizeof(source));
	return source;
}

/* Whether it begins one too many now. */
static int is_too_much(__u32 source, __u32 most, time_t now)
{
	struct beginner *beginner = &beginners[deny_place(source)];

	if (beginner->source != source || beginner->second != now) {
		beginner->source = source;
		beginner->second = now;
		beginner->count = 0;
	}
	return ++beginner->count > most;
}

static void treat(struct tna_function *function, const struct tna_frame *frame, struct denied *denied,
		  __u32 most, time_t now)
{
	__u32 source = source_of(frame);

	if (source && is_too_much(source, most, now)) {
		__atomic_store_n(&denied[deny_place(source)].source, source, __ATOMIC_RELAXED);
		printf("denied %u.%u.%u.%u\n", frame->data[26], frame->data[27], frame->data[28],
		       frame->data[29]);
		fflush(stdout);
		tna_function_drop(function, frame);
	} else if (tna_function_give_back(function, frame)) {
		tna_function_drop(function, frame);
	}
}

int main(int argc, char **argv)
{
	struct tna_function_options options = TNA_FUNCTION_OPTIONS;
	struct tna_function *function;
	struct tna_frame frames[64];
	struct denied *denied;
	__u32 most;
	int error, got;

	if (argc < 4) {
		fprintf(stderr, "usage: guard NAME MAP MOST [SOCKET]\n");
		return 2;
	}
	most = (__u32)strtoul(argv[3], NULL, 10);
	options.socket = argc > 4 ? argv[4] : NULL;
	options.gives_back = 1; /* all that is not denied */
	denied = open_map((__u32)strtoul(argv[2], NULL, 10));
	if (!denied || become_nobody()) {
		perror(denied ? "guard: cannot become nobody" : "guard: cannot open the map");
		return 1;
	}
	error = tna_function_open(&function, argv[1], &options);
	if (error && error != -EAGAIN) {
		fprintf(stderr, "guard: %s\n", strerror(-error));
		return 1;
	}
	while ((got = tna_function_receive(function, frames, 64, -1)) >= 0 || got == -EINTR)
		for (int i = 0; i < got; i++)
			treat(function, &frames[i], denied, most, time(NULL));
	fprintf(stderr, "guard: %s\n", tna_function_why(function));
	return 1;
}
