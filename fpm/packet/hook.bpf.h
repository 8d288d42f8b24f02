/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_HOOK_H
#define TNA_PACKET_HOOK_H

/* clang-format off */
/*
 * The hook that the pipeline is attached to: what a frame is there, how its bytes are reached, and how it is
 * sent. Modules and guards are the same for all hooks. Each hook has one file, which defines
 *
 *	hook_context, hook_buffer		what the program is called with, and the kernel's own structure
 *	HOOK_SECTION				the program's section
 *	HOOK_TO_LINUX, HOOK_SENT, HOOK_DROP	verdicts within the pipeline, and HOOK_IS_NOT_SENT for RARELY()
 *	HOOK_PORTS				the type of the map of ports that frames leave by
 *	HOOK_TAGS_BESIDE			1: the outer VLAN tag is not among the frame's bytes
 *	hook_verdict()				the verdict for the kernel
 *	hook_data(), hook_data_end()		the frame's bytes, as far as the program can reach them
 *	hook_kernel_buffer()			the kernel's own structure
 *	hook_ingress_device()			the address of the device that the frame came in by
 *	hook_ingress_ifindex()			its index
 *	HOOK_WITHIN_LINUX			1: those who capture at a port have had the frame before, and what
 *						is sent meets captures, filters and queues of its device by itself
 *	hook_frame_unfit()			not 0 if a frame is more than its bytes show, or must not be changed
 *	HOOK_UNFIT				the reason for that
 *	hook_frame_differs()			not 0 if Linux takes the frame for another one than its bytes say
 *	hook_frame_length()			the length of the whole frame, wherever its bytes are
 *	hook_bytes()				how long the frame is between these, or what tells that as well:
 *						all of its bytes, without a tag beside it
 *	hook_is_several()			not 0: it is several frames yet, each with the same headers
 *	hook_hidden_tag()			the tag beside the frame, as it would lie in the frame; 0: none
 *	hook_tag_beside()			what tells the same from any other, without a branch
 *	hook_for_another()			not 0: Linux takes it for another station's, if nobody who receives it
 *						after the device says otherwise
 *	hook_is_nested()			not 0: those are packets within packets
 *	hook_checksum_known()			not 0: Linux takes the checksum of TCP or UDP for right without
 *						looking
 *	hook_has_past()				not 0: it has with it what rules may look at, from before
 *	hook_routed_by_past()			not 0: by that it may be routed otherwise
 *	hook_changes_cpu()			not 0: another CPU may receive it
 *	hook_becomes_routed()			notes what a router does to a packet besides its bytes
 *	hook_mark()				puts a mark on it
 *	hook_move_head()			takes bytes off the frame's front, or (negative) adds some
 *	hook_cut_tail()				takes bytes off the frame's end; 0 if that was possible
 *	hook_send()				says by which port of a map the frame is to leave
 *	hook_cannot_send()			not 0 if frames cannot be sent by a device
 *	hook_sender_buffer(), HOOK_SENDER_KNOWN	see guards/sender.bpf.h
 *
 * How a frame gets and loses its tags is in packet/tag.bpf.h.
 */
/* clang-format on */

#ifdef TNA_HOOK_TCX
#include "packet/hook_tcx.bpf.h"
#else
#include "packet/hook_xdp.bpf.h"
#endif

#endif
