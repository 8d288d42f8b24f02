// SPDX-License-Identifier: GPL-2.0
/* Swaps the addresses of each frame and sends it back, or drops it: as one would write it with libxdp, to be
 * compared with a network function. Built on demand by `tna-bench functions`: macswap DEVICE poll|busy|sysc
 * send|drop FRAMES COUNTS, where COUNTS is a file that frames are counted in that it has dropped. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <xdp/xsk.h>

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

#define FRAME_SIZE 2048
#define BATCH 64

enum mode { MODE_POLL, MODE_BUSY, MODE_SYSC };

static enum mode mode;
static int drops;
static unsigned frames; /* half of them wait in the kernel, half are on their way out */
static volatile uint64_t *counts;
static void *memory;
static struct xsk_umem *umem;
static struct xsk_socket *xsk;
static struct xsk_ring_prod fill, send_ring;
static struct xsk_ring_cons completion, receive_ring;
static uint64_t sending;

static int fail(const char *what)
{
	fprintf(stderr, "macswap: cannot %s: %s\n", what, strerror(errno));
	return 1;
}

static int set_up_memory(void)
{
	const struct xsk_umem_config config = {
		.fill_size = frames, .comp_size = frames, .frame_size = FRAME_SIZE};
	size_t size = (size_t)frames * FRAME_SIZE;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	return xsk_umem__create(&umem, memory, size, &fill, &completion, &config);
}

static int set_up_socket(const char *device)
{
	const struct xsk_socket_config config = {.rx_size = frames,
						 .tx_size = frames,
						 .xdp_flags = XDP_FLAGS_DRV_MODE,
						 .bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP};
	uint32_t first;

	if (xsk_socket__create(&xsk, device, 0, umem, &receive_ring, &send_ring, &config))
		return -1;
	if (xsk_ring_prod__reserve(&fill, frames / 2, &first) != frames / 2)
		return -1;
	for (unsigned i = 0; i < frames / 2; i++)
		*xsk_ring_prod__fill_addr(&fill, first + i) = (uint64_t)i * FRAME_SIZE;
	xsk_ring_prod__submit(&fill, frames / 2);
	return 0;
}

static int prefer_busy_polling(void)
{
	int on = 1, microseconds = 20, budget = BATCH, fd = xsk_socket__fd(xsk);

	return setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)) ||
	       setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof(microseconds)) ||
	       setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget, sizeof(budget));
}

/* Without it there is nothing to poll, and each frame waits for a timer. */
static int knows_napi(void)
{
	unsigned napi = 0;
	socklen_t size = sizeof(napi);

	return getsockopt(xsk_socket__fd(xsk), SOL_SOCKET, SO_INCOMING_NAPI_ID, &napi, &size) == 0 && napi;
}

static void kick(void)
{
	if (mode == MODE_SYSC || xsk_ring_prod__needs_wakeup(&send_ring))
		sendto(xsk_socket__fd(xsk), NULL, 0, MSG_DONTWAIT, NULL, 0);
}

/* What was sent is for receiving again. */
static void complete(void)
{
	uint32_t first, refill, count;

	if (!sending)
		return;
	kick();
	count = xsk_ring_cons__peek(&completion, frames, &first);
	if (!count)
		return;
	if (xsk_ring_prod__reserve(&fill, count, &refill) == count) {
		for (uint32_t i = 0; i < count; i++)
			*xsk_ring_prod__fill_addr(&fill, refill + i) =
				*xsk_ring_cons__comp_addr(&completion, first + i) &
				~(uint64_t)(FRAME_SIZE - 1);
		xsk_ring_prod__submit(&fill, count);
	}
	xsk_ring_cons__release(&completion, count);
	sending -= count;
}

static void swap_addresses(unsigned char *frame)
{
	unsigned char kept[ETH_ALEN];

	memcpy(kept, frame, ETH_ALEN);
	memcpy(frame, frame + ETH_ALEN, ETH_ALEN);
	memcpy(frame + ETH_ALEN, kept, ETH_ALEN);
}

static void treat(uint32_t first, uint32_t count)
{
	struct xsk_ring_prod *ring = drops ? &fill : &send_ring;
	uint32_t out = 0;

	while (xsk_ring_prod__reserve(ring, count, &out) != count)
		complete();
	for (uint32_t i = 0; i < count; i++) {
		const struct xdp_desc *came = xsk_ring_cons__rx_desc(&receive_ring, first + i);

		swap_addresses(xsk_umem__get_data(memory, came->addr));
		if (drops)
			*xsk_ring_prod__fill_addr(ring, out + i) = came->addr & ~(uint64_t)(FRAME_SIZE - 1);
		else
			*xsk_ring_prod__tx_desc(ring, out + i) =
				(struct xdp_desc){.addr = came->addr, .len = came->len};
	}
	xsk_ring_prod__submit(ring, count);
	if (drops)
		*counts += count;
	else
		sending += count;
}

static void wait_for_frames(void)
{
	struct pollfd watched = {xsk_socket__fd(xsk), POLLIN, 0};

	if (mode == MODE_POLL)
		poll(&watched, 1, sending ? 1 : 100);
	else if (mode == MODE_SYSC || xsk_ring_prod__needs_wakeup(&fill))
		recvfrom(xsk_socket__fd(xsk), NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static int serve(void)
{
	int asked = 0;

	for (;;) {
		uint32_t first, count = xsk_ring_cons__peek(&receive_ring, BATCH, &first);

		if (!count) {
			complete();
			wait_for_frames();
			continue;
		}
		if (mode == MODE_SYSC && !asked++ && !knows_napi()) {
			fprintf(stderr,
				"macswap: the kernel does not tell sockets the NAPI of this device, so "
				"there is nothing to poll\n");
			return 1;
		}
		treat(first, count);
		xsk_ring_cons__release(&receive_ring, count);
		complete();
	}
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	int file;

	if (argc != 6)
		return fail("begin");
	mode = strcmp(argv[2], "poll") == 0   ? MODE_POLL
	       : strcmp(argv[2], "busy") == 0 ? MODE_BUSY
					      : MODE_SYSC;
	drops = strcmp(argv[3], "drop") == 0;
	frames = (unsigned)atoi(argv[4]);
	file = open(argv[5], O_RDWR);
	counts = file < 0 ? MAP_FAILED
			  : mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		return fail("use the file of counters");
	/* Its programs are attached by themselves: a dispatcher would leave pins in the file system. */
	setenv("LIBXDP_SKIP_DISPATCHER", "1", 1);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (set_up_memory())
		return fail("set up memory");
	if (set_up_socket(argv[1]))
		return fail("set up a socket");
	if (mode == MODE_SYSC && prefer_busy_polling())
		return fail("set up busy polling");
	return serve();
}
