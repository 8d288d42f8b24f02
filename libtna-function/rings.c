// SPDX-License-Identifier: Apache-2.0
/* The rings between an AF_XDP socket and this process, by the system's own calls. */
#include "internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

static int map_ring(int fd, struct ring *ring, const struct xdp_ring_offset *offset, size_t entry,
		    uint32_t size, off_t where)
{
	char *at;

	ring->length = offset->desc + entry * size;
	at = mmap(NULL, ring->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, where);
	if (at == MAP_FAILED)
		return -errno;
	ring->mapped = at;
	ring->producer = (uint32_t *)(at + offset->producer);
	ring->consumer = (uint32_t *)(at + offset->consumer);
	ring->flags = (uint32_t *)(at + offset->flags);
	ring->entries = at + offset->desc;
	ring->size = size;
	ring->mine = 0;
	return 0;
}

int map_rings(struct socket_of_queue *socket, uint32_t frames)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);
	int error;

	if (getsockopt(socket->fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0)
		return -errno;
	error = map_ring(socket->fd, &socket->fill, &offsets.fr, sizeof(uint64_t), frames,
			 (off_t)XDP_UMEM_PGOFF_FILL_RING);
	if (!error)
		error = map_ring(socket->fd, &socket->completion, &offsets.cr, sizeof(uint64_t), frames,
				 (off_t)XDP_UMEM_PGOFF_COMPLETION_RING);
	if (!error)
		error = map_ring(socket->fd, &socket->send, &offsets.tx, sizeof(struct xdp_desc), frames,
				 (off_t)XDP_PGOFF_TX_RING);
	if (!error && socket->about.receives)
		error = map_ring(socket->fd, &socket->receive, &offsets.rx, sizeof(struct xdp_desc), frames,
				 (off_t)XDP_PGOFF_RX_RING);
	return error;
}

static void unmap_ring(struct ring *ring)
{
	if (ring->mapped)
		munmap(ring->mapped, ring->length);
	ring->mapped = NULL;
}

void unmap_rings(struct socket_of_queue *socket)
{
	unmap_ring(&socket->fill);
	unmap_ring(&socket->completion);
	unmap_ring(&socket->send);
	unmap_ring(&socket->receive);
}

uint32_t ring_filled(struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->mine;
}

uint32_t ring_vacant(struct ring *ring)
{
	return ring->size - (ring->mine - __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE));
}

void ring_submit(struct ring *ring)
{
	__atomic_store_n(ring->producer, ring->mine, __ATOMIC_RELEASE);
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(ring->consumer, ring->mine, __ATOMIC_RELEASE);
}
