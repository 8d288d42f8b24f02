#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packets and what a stateless translator makes of them, for vectors.txt: ./vectors.py > vectors.txt

Both versions of each packet are built from its meaning by scapy, which computes lengths and checksums; nothing is translated here.
A line is: name, packet, result; the result's parts are joined by "+" where there are several, and a word if there is none.
"""
import scapy
from scapy.all import Raw, raw
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem,
                                ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, PadN)
from scapy.layers.ipsec import ESP

HOST6, HOST4 = "2001:db8::1", "198.51.100.1"
SERVER6, SERVER4 = "64:ff9b::c000:221", "192.0.2.33"
ROUTER6, ROUTER4 = "64:ff9b::cb00:7109", "203.0.113.9"
INNER6, INNER4 = "2001:db8:7::9", "198.51.100.7"  # of a router of IPv6's side, that has a counterpart
ID = 0x1234  # the translator's first one

lines = []


def line(name, packet, *results):
    lines.append(f"{name} {raw(packet).hex()} " + "+".join(r if isinstance(r, str) else raw(r).hex() for r in results))


def to4(name, six, four):
    """From the host to the server: its headers and what is in them."""
    line(name, six, four)


def h6(**more):
    return IPv6(**{"src": HOST6, "dst": SERVER6, "hlim": 61, **more})


def h4(length, **more):
    small = length <= 1260
    return IP(**{"src": HOST4, "dst": SERVER4, "ttl": 61, "id": ID if small else 0, "flags": 0 if small else "DF", **more})


def s4(**more):
    return IP(**{"src": SERVER4, "dst": HOST4, "ttl": 55, "id": 77, "flags": "DF", **more})


def s6(**more):
    return IPv6(**{"src": SERVER6, "dst": HOST6, "hlim": 55, **more})


def data(length):
    return Raw(bytes(i * 7 % 251 for i in range(length)))


contents = {
    "udp": UDP(sport=4000, dport=53) / data(33),
    "udp-empty": UDP(sport=4000, dport=53),
    "udp-1232": UDP(sport=4000, dport=53) / data(1232),
    "udp-1233": UDP(sport=4000, dport=53) / data(1233),
    "tcp-syn": TCP(sport=40000, dport=80, flags="S", seq=12345, options=[("MSS", 1440), ("WScale", 7)]),
    "tcp-data": TCP(sport=40000, dport=80, flags="PA", seq=12346, ack=99) / data(1000),
    "esp": ESP(spi=7, seq=9) / data(40),
}
for name, content in contents.items():
    length = 20 + len(raw(h6() / content)) - 40
    to4(f"to4-{name}", h6(tc=0xb8, fl=0x12345) / content, h4(length, tos=0xb8) / content)
    line(f"to6-{name}", s4(tos=0x2e, ttl=55) / content, s6(tc=0x2e) / content)
for length in (0, 1, 56, 1232):
    to4(f"to4-ping-{length}", h6() / ICMPv6EchoRequest(id=5, seq=6) / data(length), h4(28 + length) / ICMP(type=8, id=5, seq=6) / data(length))
    to4(f"to4-pong-{length}", h6() / ICMPv6EchoReply(id=5, seq=6) / data(length), h4(28 + length) / ICMP(type=0, id=5, seq=6) / data(length))
    line(f"to6-ping-{length}", s4() / ICMP(type=8, id=5, seq=6) / data(length), s6() / ICMPv6EchoRequest(id=5, seq=6) / data(length))
    line(f"to6-pong-{length}", s4() / ICMP(type=0, id=5, seq=6) / data(length), s6() / ICMPv6EchoReply(id=5, seq=6) / data(length))

# UDP whose checksum is 0 has none; one that would be 0 is all ones.
line("to6-udp-without-checksum", s4() / UDP(sport=1, dport=2, chksum=0) / data(19), s6() / UDP(sport=1, dport=2) / data(19))
for word in range(65536):
    probe = h4(30) / UDP(sport=4000, dport=53) / Raw(word.to_bytes(2, "big"))
    if raw(probe)[26:28] == b"\xff\xff":
        to4("to4-udp-checksum-ones", h6() / UDP(sport=4000, dport=53) / Raw(word.to_bytes(2, "big")), probe)
        break

# Options and extension headers.
line("to6-options", s4(options=[IPOption_NOP()] * 8) / contents["udp"], s6() / contents["udp"])
line("to6-source-route-ended", s4(options=[b"\x83\x07\x08\x01\x02\x03\x04\x00"]) / contents["udp"], s6() / contents["udp"])
to4("to4-extensions", h6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)]) / contents["udp"],
    h4(61) / contents["udp"])
to4("to4-routing-ended", h6() / IPv6ExtHdrRouting(addresses=[], segleft=0) / contents["tcp-data"], h4(1040) / contents["tcp-data"])

# Fragments: the checksum is of the whole.
whole6, whole4 = (raw(p / UDP(sport=4000, dport=53) / data(1192))[n:] for p, n in ((h6(), 40), (h4(1220), 20)))
for name, at, to, more in (("first", 0, 600, 1), ("middle", 600, 1000, 1), ("last", 1000, 1200, 0)):
    to4(f"to4-fragment-{name}", h6(nh=44) / IPv6ExtHdrFragment(nh=17, offset=at // 8, m=more, id=0xabcd4321) / Raw(whole6[at:to]),
        IP(src=HOST4, dst=SERVER4, ttl=61, id=0x4321, flags=more, frag=at // 8, proto=17) / Raw(whole4[at:to]))
back4, back6 = (raw(p / UDP(sport=4000, dport=53) / data(1192))[n:] for p, n in ((s4(), 20), (s6(), 40)))
for name, at, to, more in (("first", 0, 600, 1), ("middle", 600, 1000, 1), ("last", 1000, 1200, 0)):
    line(f"to6-fragment-{name}", s4(flags=more, frag=at // 8, id=0x4321, proto=17) / Raw(back4[at:to]),
         s6(nh=44) / IPv6ExtHdrFragment(nh=17, offset=at // 8, m=more, id=0x4321) / Raw(back6[at:to]))
to4("to4-fragment-of-one", h6() / IPv6ExtHdrFragment(id=0x10009, nh=17) / contents["udp"], h4(61, id=9) / contents["udp"])

# What may be split, and is too long for 1280 bytes of IPv6.
long4, long6 = s4(flags=0, id=77) / UDP(sport=4000, dport=53) / data(1472), raw(s6() / UDP(sport=4000, dport=53) / data(1472))[40:]
line("to6-split", long4, s6(nh=44) / IPv6ExtHdrFragment(nh=17, offset=0, m=1, id=77) / Raw(long6[:1232]),
     s6(nh=44) / IPv6ExtHdrFragment(nh=17, offset=154, m=0, id=77) / Raw(long6[1232:]))
line("to6-not-split", s4(flags=0, id=77) / UDP(sport=4000, dport=53) / data(1212), s6() / UDP(sport=4000, dport=53) / data(1212))

# ICMP errors: what they quote is what the one who gets them has sent.
quotes = {
    "udp": (UDP(sport=4000, dport=53) / data(40), UDP(sport=4000, dport=53) / data(40)),
    "tcp": (TCP(sport=40000, dport=80, flags="A", seq=1) / data(20), TCP(sport=40000, dport=80, flags="A", seq=1) / data(20)),
    "ping": (ICMPv6EchoRequest(id=5, seq=6) / data(12), ICMP(type=8, id=5, seq=6) / data(12)),
}


def error6(name, icmp, result):
    """From a router of IPv6's side, about what the server has sent to the host."""
    for which, (six, four) in quotes.items():
        q6 = IPv6(src=SERVER6, dst=HOST6, hlim=1) / six
        q4 = IP(src=SERVER4, dst=HOST4, ttl=1, id=0, flags="DF") / four
        packet = IPv6(src=INNER6, dst=SERVER6, hlim=64) / icmp / Raw(raw(q6))
        line(f"{name}-{which}", packet, result if isinstance(result, str) else
             IP(src=INNER4, dst=SERVER4, ttl=64, id=ID, flags=0) / result / Raw(raw(q4)))


def error4(name, icmp, result):
    """From a router of IPv4's side, about what the host has sent to the server."""
    for which, (six, four) in quotes.items():
        q4 = IP(src=HOST4, dst=SERVER4, ttl=1, id=ID, flags="DF") / four
        q6 = IPv6(src=HOST6, dst=SERVER6, hlim=1) / six
        packet = IP(src=ROUTER4, dst=HOST4, ttl=62, id=4, tos=0xc0) / icmp / Raw(raw(q4))
        line(f"{name}-{which}", packet, result if isinstance(result, str) else
             IPv6(src=ROUTER6, dst=HOST6, hlim=62, tc=0xc0) / result / Raw(raw(q6)))


for code, to in {0: (1, 0), 1: (1, 0), 2: None, 3: (1, 4), 5: (1, 0), 6: (1, 0), 7: (1, 0), 8: (1, 0), 9: (1, 1), 10: (1, 1), 11: (1, 0),
                 12: (1, 0), 13: (1, 1), 14: "icmp-type", 15: (1, 1), 16: "icmp-type"}.items():
    result = ICMPv6ParamProblem(code=1, ptr=6) if to is None else to if isinstance(to, str) else ICMPv6DestUnreach(code=to[1])
    error4(f"to6-unreachable-{code}", ICMP(type=3, code=code), result)
error4("to6-too-big", ICMP(type=3, code=4, nexthopmtu=1400), ICMPv6PacketTooBig(mtu=1420))
error4("to6-too-big-576", ICMP(type=3, code=4, nexthopmtu=576), ICMPv6PacketTooBig(mtu=1280))
error4("to6-too-big-silent", ICMP(type=3, code=4, nexthopmtu=0), ICMPv6PacketTooBig(mtu=1280))
for code in (0, 1):
    error4(f"to6-time-{code}", ICMP(type=11, code=code), ICMPv6TimeExceeded(code=code))
    error6(f"to4-time-{code}", ICMPv6TimeExceeded(code=code), ICMP(type=11, code=code))
for pointer, to in {0: 0, 1: 1, 2: 4, 3: 4, 4: None, 6: None, 8: 7, 9: 6, 10: None, 12: 8, 15: 8, 16: 24, 19: 24, 20: None}.items():
    error4(f"to6-parameter-{pointer}", ICMP(type=12, code=0, ptr=pointer), "icmp-type" if to is None else ICMPv6ParamProblem(code=0, ptr=to))
for kind in (4, 5):
    error4(f"to6-type-{kind}", ICMP(type=kind), "icmp-type")
for code, to in {0: (3, 1), 1: (3, 10), 2: (3, 1), 3: (3, 1), 4: (3, 3), 5: None, 7: None}.items():
    error6(f"to4-unreachable-{code}", ICMPv6DestUnreach(code=code), "icmp-type" if to is None else ICMP(type=to[0], code=to[1]))
error6("to4-too-big", ICMPv6PacketTooBig(mtu=1400), ICMP(type=3, code=4, nexthopmtu=1380))
error6("to4-too-big-large", ICMPv6PacketTooBig(mtu=100000), ICMP(type=3, code=4, nexthopmtu=65535))
for pointer, to in {0: 0, 1: 1, 2: None, 4: 2, 5: 2, 6: 9, 7: 8, 8: 12, 23: 12, 24: 16, 39: 16, 40: None}.items():
    error6(f"to4-parameter-{pointer}", ICMPv6ParamProblem(code=0, ptr=pointer), "icmp-type" if to is None else ICMP(type=12, code=0, ptr=to))
error6("to4-next-header", ICMPv6ParamProblem(code=1, ptr=6), ICMP(type=3, code=2))
error6("to4-option", ICMPv6ParamProblem(code=2, ptr=40), "icmp-type")

# What must not be translated.
line("to6-multicast-source", s4(src="224.0.0.1") / contents["udp"], "address")
line("to6-loopback-source", s4(src="127.0.0.1") / contents["udp"], "address")
line("to6-private", s4(src="10.1.2.3") / contents["udp"], "private-address")
line("to4-private", h6(dst="64:ff9b::c0a8:1") / contents["udp"], "private-address")
line("to4-multicast", h6(dst="64:ff9b::e000:1") / contents["udp"], "address")
line("to4-elsewhere", h6(dst="2001:db8::5") / contents["udp"], "not-ours")
line("to6-elsewhere", s4(dst="198.51.100.99") / contents["udp"], "not-ours")
line("to6-checksum", s4(chksum=7) / contents["udp"], "malformed")
line("to6-ah", s4(proto=51) / data(40), "protocol")
line("to6-icmp6", s4(proto=58) / raw(ICMPv6EchoRequest()), "protocol")
line("to4-icmp4", h6(nh=1) / raw(ICMP()), "protocol")
line("to4-no-next", h6(nh=59) / data(40), "protocol")
line("to6-timestamp", s4() / ICMP(type=13), "icmp-type")
line("to4-solicitation", h6(nh=58) / Raw(b"\x87\0\0\0" + b"\0" * 20), "icmp-type")
line("to6-ping-fragment", s4(flags=1) / ICMP(type=8) / data(24), "icmp-fragment")
line("to4-ping-fragment", h6() / IPv6ExtHdrFragment(m=1, nh=58) / ICMPv6EchoRequest() / data(24), "icmp-fragment")
line("to4-options-in-fragment", h6() / IPv6ExtHdrFragment(m=1, nh=60) / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]) / UDP() / data(24), "protocol")
line("to6-zero-checksum-fragment", s4(flags=1) / UDP(chksum=0) / data(24), "zero-checksum")
line("to6-odd-fragment", s4(flags=1) / UDP() / data(23), "malformed")
print(f"# {'made by vectors.py, scapy'} {scapy.__version__}")
print("\n".join(lines))
