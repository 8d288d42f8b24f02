/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_CONNECTION_H
#define TNA_CONNECTION_H

/* What the fast path learns of connections that pass rule sets, and what it is told of those. */

#include <linux/types.h>

/* Packets for which the rules are steady. */
#define TNA_STEADY_TCP 1u
#define TNA_STEADY_UDP 2u

/* What becomes of packets of TCP that connection tracking calls invalid; neither: that depends. */
#define TNA_INVALID_DROPPED 4u
#define TNA_INVALID_PASSED 8u
/* Dropped at pre-routing, all of them: before anybody asks where they are to go. */
#define TNA_INVALID_DROPPED_EARLY 16u
/* Those that are for this host are dropped. */
#define TNA_INVALID_DROPPED_FOR_HOST 32u
/* Connection tracking is not among the functions that netfilter calls: no packet has a connection. */
#define TNA_UNTRACKED 64u
/* Packets of TCP in the middle of a flow may get marks at pre-routing: by which they are routed, perhaps. */
#define TNA_MARKED_EARLY 128u
/* Rules may look at connections' marks. */
#define TNA_CONNECTION_MARKS 256u
/* Of those that are dropped, some are at pre-routing. */
#define TNA_INVALID_SOME_EARLY 512u
/* Rules may finish checksums that senders have left to hardware (iptables' CHECKSUM). */
#define TNA_FINISHES_TCP 1024u
#define TNA_FINISHES_UDP 2048u
/* Packets for which the rules are steady if they exempt them from connection tracking (`notrack`), or if
 * nobody tracks connections. */
#define TNA_EXEMPT_TCP 4096u
#define TNA_EXEMPT_UDP 8192u

/* The places that forwarded packets pass: pre-routing, forward, post-routing. */
#define TNA_RULE_HOOKS 3

/* Functions that netfilter calls at one place; more are not looked at. */
#define TNA_HOOK_FUNCTIONS_MAX 16

struct tna_hook_function {
	__u64 function; /* by address */
	__s32 priority;
	__u32 kind;    /* who has registered it: enum nf_hook_ops_type */
	__u32 program; /* the id of a BPF program */
	__u32 unused;
};

struct tna_hook_list {
	__u64 list; /* struct nf_hook_entries * */
	__u32 number;
	__u32 unused;
	struct tna_hook_function functions[TNA_HOOK_FUNCTIONS_MAX];
};

/* What fpm/probe/hook_lists.bpf.c finds: of IPv4, of IPv6, and of bridges. */
struct tna_hooks {
	struct tna_hook_list lists[3][TNA_RULE_HOOKS];
};

/* A device as rules know it. */
#define TNA_NAME_WORDS 2

struct tna_rule_device {
	__u64 name[TNA_NAME_WORDS];
	__u32 ifindex;
	__u32 group;
};

/* What becomes of packets of TCP that connection tracking calls invalid and that come and leave by these; of
 * no name: by whatever they leave. */
struct tna_judged_way {
	struct tna_rule_device from;
	struct tna_rule_device to;
	__u32 becomes; /* TNA_INVALID_* */
	__u32 unused;
};

/* Ways of which more is known than of all packets; of others it is not. */
#define TNA_JUDGED_WAYS_MAX 64

/* What the fast path may do at a device with packets whose connections are learnt. */
#define TNA_FLOW_COMES 1u  /* forward those that come by it */
#define TNA_FLOW_LEAVES 2u /* have them leave by it */
#define TNA_FLOW_PLACES_MAX 16384

/* The rules of one protocol, as the controller has judged them; `generation` is written last, and is 0
 * meanwhile, and from when packets meet other functions. */
struct tna_judged_rules {
	__u32 generation;                /* of the rule sets that were judged; 0: nothing is known */
	__u32 serial;                    /* of the judgement */
	__u32 steady;                    /* TNA_STEADY_*, TNA_INVALID_* */
	__u32 missed;                    /* packets have met other functions */
	__u32 functions[TNA_RULE_HOOKS]; /* their number */
	__u32 known;                     /* as `generation`, also where nothing is steady */
	__u64 lists[TNA_RULE_HOOKS];     /* struct nf_hook_entries * */
	/* If `steady` does not say of all; ended by one without a name. */
	struct tna_judged_way ways[TNA_JUDGED_WAYS_MAX];
};

/* Who talks to whom over IPv4, in one direction, as it lies in the headers. */
struct tna_ends {
	__u32 source;
	__u32 destination;
	__u16 source_port;
	__u16 destination_port;
	__u32 protocol;
};

/* The same over IPv6. */
struct tna_ends6 {
	__u64 source[2];
	__u64 destination[2];
	__u16 source_port;
	__u16 destination_port;
	__u32 protocol;
};

/* What became of a packet. */
struct tna_lesson {
	__u64 stamp;      /* no two lessons have the same */
	__u64 entry;      /* struct nf_conn *, of the connection; 0: nobody tracks it */
	__u32 generation; /* of the rules that let it pass */
	__u32 serial;     /* of the judgement about those */
	__u32 mark;       /* of the connection */
	__u32 direction;  /* as the connection's entry counts them */
	__u64 until;      /* jiffies: then Linux gets a packet, to refresh the entry */
	__u64 arrival;    /* struct net_device * */
	__u64 departure;  /* struct net_device * to which Linux handed it */
	struct tna_rule_device from;
	struct tna_rule_device to;
	__u32 routes;      /* their generation: rules may look at routes, and at addresses of the host */
	__u32 service;     /* type of service, or traffic class and flow label: by it, too */
	__s32 least;       /* jiffies that the connection must have left: who else has made it shorter? */
	__u16 source_port; /* as the packet left */
	__u16 destination_port;
	__u64 source[2]; /* of IPv4, one word */
	__u64 destination[2];
	/* Where a bridge has called the rules: its ports that the packet came in by, and (bridged) leaves by,
	 * which they know by name; else 0. */
	__u64 ports[2][TNA_NAME_WORDS];
	__u32 invalid; /* TNA_INVALID_*: what becomes of packets of TCP that are called so */
	__u32 protocol;
	__u32 routed_mark; /* the mark that the packet had when it was routed, */
	__u32 left_mark;   /* and the one with which it left */
	__u64 stamp_again; /* the same as above, if this is one lesson, and not the halves of two */
};

/* What one side of a connection of TCP has sent, as connection tracking keeps it (struct ip_ct_tcp_state). */
struct tna_stream_side {
	__u32 end;    /* the highest sequence number, and one */
	__u32 maxend; /* what the other side lets it send */
	__u32 maxwin; /* the largest window that it has told */
	__u32 acked;  /* what the other side has acknowledged */
};

/* A reset does not come behind these; and one that does not end the connection has it forgotten soon. Of
 * segments that are outside of the windows, only a FIN or a reset counts as the last one. */
#define TNA_LAST_OTHER 1u
#define TNA_LAST_RESET 2u
#define TNA_LAST_INVALID 3u

/* What is known of a stream is to be taken from Linux again: there was another handshake, or Linux has
 * forgotten its windows; or nobody has followed it, so that what Linux knows may be older. */
#define TNA_ANEW_BEGUN 1u
#define TNA_ANEW_LEFT 2u

/*
 * A connection of TCP some packets of which connection tracking does not see: the windows as it would have
 * them if it did, and what the controller needs to put its entry right when nothing comes for a while.
 */
struct tna_stream {
	struct tna_stream_side sides[2]; /* as the connection's entry counts directions */
	struct tna_stream_side noted[2]; /* what that had when it was looked at last */
	__u64 born;                      /* in ns: no two that are one entry have it */
	__u64 used;                      /* in jiffies, when the last packet came */
	__u64 reset_at;                  /* in ns, when it was reset */
	__u64 given_up_at;    /* in ns, when both sides had wanted to end it, outside of the windows, */
	__u64 given_up_after; /* and the last packet before that, as in `used` */
	__u32 judged; /* by direction: packets outside of the windows are invalid, and not let pass as ever */
	__u32 shut;   /* the last window that was told was 0 */
	__u32 reset;  /* it has been reset */
	__u32 last_end;       /* of the last segment that connection tracking has noted */
	__u32 last_direction; /* and which way the last one went that it took */
	__u32 last_other;     /* TNA_LAST_*: which was no mere acknowledgement */
	__u32 source[4];
	__u32 destination[4];
	__u16 source_port; /* all as it lies in the headers of the first packet */
	__u16 destination_port;
	__u32 ipv6;
	__u16 anew;      /* TNA_ANEW_*: what is known was of what came before */
	__u16 lost;      /* a segment came of which this does not know what it said */
	__u32 disturbed; /* so many segments came that connection tracking has taken, but would not have */
};

/* What connection tracking puts into a packet: when it has come in, another destination; before it leaves,
 * another source. */
#define TNA_ANOTHER_SOURCE 1u
#define TNA_ANOTHER_DESTINATION 2u

/* Per CPU: what becomes of the packet that is looked at. */
struct tna_translation {
	__u64 routed[2]; /* the destination that it is routed to, as it lies in the header (of IPv4, one word)
			  */
	__u32 steps;     /* TNA_ANOTHER_*; 0: it stays as it is */
	__u16 source_port;
	__u16 destination_port;
	__u64 source[2]; /* both as the packet is to have them */
	__u64 destination[2];
	__u32 routed_mark; /* the mark with which it is routed, and with which it leaves */
	__u32 left_mark;
};

/* Per CPU: packets that are on their way through the rules. */
struct tna_passage {
	__u64 packet;          /* struct sk_buff * */
	__u32 generation;      /* of the rules when it set out */
	__u32 serial;          /* of the judgement about those */
	__u32 routes;          /* the generation of the routes */
	__u32 service;         /* of its header: type of service, or traffic class and flow label */
	__u32 hops;            /* time to live, or hop limit, and protocol */
	__u32 routed_mark;     /* the mark that it has when it is routed */
	__u32 mark_known;      /* whether it has come so far */
	__u32 connection_mark; /* that of the connection, as of which an earlier packet was learnt */
	__u64 entry;           /* struct nf_conn * of that; 0: none was */
	struct tna_ends ends;  /* as it set out */
	struct tna_ends6 ends6;
	struct tna_translation leaves; /* as it is to leave */
};

#endif
