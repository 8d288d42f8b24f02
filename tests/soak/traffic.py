# SPDX-License-Identifier: Apache-2.0
"""Frames of the soak: as many as one processor sends over the bridge, and packets that are routed, each compared."""

import json
import select
import socket
import struct
import subprocess
import time

from world import Failure, die_with_parent, far, host_mac, network, port_mac


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(net_from, net_to, number):
    header = struct.pack("!BBHHHBBH4B4B", 0x45, 0, 28 + 18, number & 0xFFFF, 0, 64, 17, 0,
                         10, net_from, 0, 2, 10, net_to, number & 0xFF, 2)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return b"\x08\x00" + header + struct.pack("!HHHH", 4000, 4001, 26, 0) + b"tna soak %09d" % number


def ipv6(net_from, net_to, number):
    def address(first, last):
        return bytes([0xFD, first]) + bytes(13) + bytes([last])

    source, target = address(net_from, 2), address(net_to, number & 0xFF)
    payload = struct.pack("!HHHH", 4000, 4001, 26, 0) + b"tna soak %09d" % number
    pseudo = source + target + struct.pack("!II", len(payload), 17)
    payload = payload[:6] + struct.pack("!H", checksum(pseudo + payload) or 0xFFFF) + payload[8:]
    return b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(payload), 17, 64) + source + target + payload


def routed(frame, to_mac, from_mac):
    """What a router makes of a frame that ipv4() or ipv6() have made."""
    body = bytearray(frame[12:])
    if body[:2] == b"\x08\x00":
        body[2 + 8] -= 1
        body[12:14] = b"\0\0"
        body[12:14] = struct.pack("!H", checksum(bytes(body[2:22])))
    else:
        body[2 + 7] -= 1
    return to_mac + from_mac + bytes(body)


class Wires:
    """Sockets at the far ends of ports."""

    def __init__(self, world, ports):
        self.wires = {port: world.far.wire(far(port)) for port in ports}
        self.number = 0

    def close(self):
        for wire in self.wires.values():
            wire.close()

    def pairs(self):
        """Frames and what they must become: (from, to, frame, expected)."""
        self.number += 1
        found = []
        for source, target in (("b0", "b1"), ("b1", "b0"), ("b2", "b3"), ("b3", "b2")):
            frame = host_mac(target) + host_mac(source) + ipv4(3, 3, self.number)
            found.append((source, target, frame, frame))
        for source, target in (("r0", "r1"), ("r1", "r0")):
            far_net = 10 * network(target)
            for make, number in ((ipv4, far_net), (ipv6, far_net // 10 << 4)):
                frame = port_mac(source) + host_mac(source) + make(network(source), number, self.number)
                found.append((source, target, frame, routed(frame, host_mac(target), port_mac(target))))
        return found

    def send(self):
        """One of each, whatever becomes of it."""
        for source, _, frame, _ in self.pairs():
            try:
                self.wires[source].send(frame)
            except OSError:  # the link is down
                pass

    def introduce(self):
        """A switch has to have heard of stations."""
        for port, wire in self.wires.items():
            # That the link was down meanwhile is told once.
            wire.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            wire.send(b"\xff" * 6 + host_mac(port) + b"\x88\xb5" + bytes(46))

    def verify(self, patience=5):
        """All must arrive, as they should be."""
        self.introduce()
        for source, target, frame, expected in self.pairs():
            while self.received(target, None, 0):
                pass
            self.wires[source].send(frame)
            if not self.received(target, expected, patience):
                raise Failure(f"a frame from {source} does not come out of {target}: {frame.hex()}, "
                              f"expected as {expected.hex()}")

    def received(self, port, expected, patience):
        """Whether a frame comes, or any one."""
        deadline = time.monotonic() + patience
        wire = self.wires[port]
        while select.select([wire], [], [], max(0, deadline - time.monotonic()))[0]:
            frame = wire.recv(2048)
            if expected is None or frame == expected:
                return True
        return False


class Load:
    """Live frames from b0 to b1 for some seconds, by tna-bench."""

    def __init__(self, build, world, seconds):
        self.process = subprocess.Popen(
            world.far.command(f"{build}/tools/bench/tna-bench", "throughput", "--tx", far("b0"), "--rx", far("b1"),
                              "--dut", "none", "--cpus", "1", "--stations", "50", "--rounds", "1", "--seconds",
                              str(seconds), "--json"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent)
        # It looks at its interfaces before it begins: they are as they should be until then.
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            if '"xdp"' in world.far.sh(f"ip -j link show {far('b1')}"):
                break
            time.sleep(0.02)

    def end(self):
        """Millions of frames that were sent, and that arrived."""
        output, complaints = self.process.communicate(timeout=120)
        try:
            rounds = [one for series in json.loads(output)["series"] for one in series["rounds"]]
        except (ValueError, KeyError, TypeError):
            raise Failure(f"tna-bench: {(complaints or output).strip()[-1000:]}") from None
        return {"sent": sum(one["sent"] for one in rounds), "received": sum(one["received"] for one in rounds)}

    def kill(self):
        self.process.kill()
        self.process.communicate()
