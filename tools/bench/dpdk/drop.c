// SPDX-License-Identifier: GPL-2.0
/* Computes the IPv4 header checksum of what comes to port 0, as often as it is told, and drops what is wrong;
 * the rest is dropped as well, and counted apart. Built on demand by `tna-bench tenants`: drop [EAL options]
 * -- TIMES COUNTS, where COUNTS is a file of two counters. Ends with its standard input. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define BURST 64
#define DESCRIPTORS 1024
#define BUFFERS 8192

static volatile int stop;
static unsigned times;
static volatile uint64_t *counts;

static uint32_t folded_sum(const uint16_t *words)
{
	uint32_t sum = 0;

	for (int i = 0; i < 10; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static int is_wrong(const struct rte_mbuf *frame)
{
	const uint16_t *header = rte_pktmbuf_mtod_offset(frame, const uint16_t *, RTE_ETHER_HDR_LEN);
	uint32_t wrong = 0;

	if (rte_pktmbuf_data_len(frame) < RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
		return 0;
	for (unsigned i = 0; i < times; i++) {
		__asm__ volatile("" ::: "memory"); /* each time anew */
		wrong |= folded_sum(header) != 0xffff;
	}
	return wrong != 0;
}

static int work(void *unused)
{
	struct rte_mbuf *frames[BURST];

	(void)unused;
	while (!stop) {
		uint16_t count = rte_eth_rx_burst(0, 0, frames, BURST), wrong = 0;

		for (uint16_t i = 0; i < count; i++)
			wrong += is_wrong(frames[i]);
		rte_pktmbuf_free_bulk(frames, count);
		counts[0] += wrong;
		counts[1] += count - wrong;
	}
	return 0;
}

static int fail(const char *what)
{
	fprintf(stderr, "drop: cannot %s\n", what);
	return 1;
}

static int start_port(struct rte_mempool *buffers)
{
	struct rte_eth_conf plain = {0};

	return rte_eth_dev_configure(0, 1, 1, &plain) ||
	       rte_eth_rx_queue_setup(0, 0, DESCRIPTORS, 0, NULL, buffers) ||
	       rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, 0, NULL) || rte_eth_dev_start(0);
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), file;
	struct rte_mempool *buffers;
	char end;

	if (used < 0 || argc - used != 3)
		return fail("begin");
	times = (unsigned)atoi(argv[used + 1]);
	file = open(argv[used + 2], O_RDWR);
	counts = file < 0 ? MAP_FAILED
			  : mmap(NULL, 2 * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		return fail("use the file of counters");
	buffers =
		rte_pktmbuf_pool_create("buffers", BUFFERS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!buffers || rte_eth_dev_count_avail() == 0 || start_port(buffers))
		return fail("use the device");
	if (rte_eal_remote_launch(work, NULL, rte_get_next_lcore(rte_get_main_lcore(), 1, 0)))
		return fail("start its thread");
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	stop = 1;
	rte_eal_mp_wait_lcore();
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0); /* an XDP program of its driver's goes */
	return rte_eal_cleanup();
}
