# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces of the soak's own: one that forwards, and one where the far ends of its ports are."""

import ctypes
import os
import signal
import socket
import subprocess
import threading

PREFIX = "tna-soak-"
BRIDGE_PORTS = ["b0", "b1", "b2", "b3"]
ROUTED_PORTS = ["r0", "r1"]
PORTS = BRIDGE_PORTS + ROUTED_PORTS
CLONE_NEWNET, PR_SET_PDEATHSIG = 0x40000000, 1
libc = ctypes.CDLL(None, use_errno=True)


class Failure(Exception):
    """What does not work, in a sentence."""


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(*words, check=True, timeout=60, **more):
    """Runs a program; its output."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=timeout, preexec_fn=die_with_parent, check=False, **more)
    if check and done.returncode != 0:
        raise Failure(f"'{' '.join(words)}' failed ({done.returncode}): {done.stdout.strip()[-2000:]}")
    return done.stdout


def far(port):
    return "f" + port


def host_mac(port):
    """The one host behind a port."""
    return bytes([2, 0, 0, 0, 1, PORTS.index(port)])


def port_mac(port):
    return bytes([2, 0, 0, 0, 0xFF, PORTS.index(port)])


def mac_text(mac):
    return ":".join(f"{byte:02x}" for byte in mac)


class Namespace:
    def __init__(self, role):
        self.name = f"{PREFIX}{os.getpid()}-{role}"
        run("ip", "netns", "add", self.name)
        self.sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 || true")

    def command(self, *words):
        return ["ip", "netns", "exec", self.name, *words]

    def sh(self, words, check=True):
        """A shell's words in here; fails with the first command that does."""
        return run(*self.command("sh", "-ec", words), check=check)

    def inside(self, function):
        """What a function gives in here, in a thread of its own: sockets stay where they were made."""
        result = []

        def call():
            with open(f"/run/netns/{self.name}", encoding="ascii") as handle:
                if libc.setns(handle.fileno(), CLONE_NEWNET) != 0:
                    result.append(OSError(ctypes.get_errno(), "setns"))
                    return
            try:
                result.append(function())
            except OSError as error:
                result.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        if isinstance(result[0], Exception):
            raise result[0]
        return result[0]

    def wire(self, device):
        """A socket that sends and receives whole frames at a device."""
        def make():
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            made.bind((device, 3))
            made.setblocking(False)
            return made

        return self.inside(make)

    def delete(self):
        run("ip", "netns", "del", self.name, check=False)


def remove_leftovers():
    """Of soaks that were killed."""
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        if name.startswith(PREFIX) and not os.path.exists(f"/proc/{name.split('-')[2]}"):
            run("ip", "netns", "del", name, check=False)


# Where packets are routed between: a network of each family behind each routed port.
def network(port):
    return 1 + ROUTED_PORTS.index(port)


def restore_words():
    """What brings the addresses, routes and neighbours of the forwarding namespace back, whatever is missing."""
    words = ["sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 || true"]
    for port in PORTS:
        words.append(f"ip link set {port} mtu 1500 up")
    for port in BRIDGE_PORTS:
        words.append(f"ip link set {port} master br0")
    for port in ROUTED_PORTS:
        # With an MTU that is too small, IPv6 and its settings had gone.
        words.append(f"sysctl -qw net.ipv6.conf.{port}.disable_ipv6=0 net.ipv6.conf.{port}.accept_dad=0 "
                     f"net.ipv6.conf.{port}.addr_gen_mode=1 net.ipv4.conf.{port}.rp_filter=0")
        net, mac = network(port), mac_text(host_mac(port))
        words.append(f"ip address replace 10.{net}.0.1/24 dev {port}")
        words.append(f"ip -6 address replace fd0{net}::1/64 dev {port} nodad")
        words.append(f"ip neigh replace 10.{net}.0.2 lladdr {mac} dev {port} nud permanent")
        words.append(f"ip neigh replace fd0{net}::2 lladdr {mac} dev {port} nud permanent")
        words.append(f"ip route replace 10.{net}0.0.0/16 via 10.{net}.0.2")
        words.append(f"ip -6 route replace fd{net}0::/16 via fd0{net}::2")
    return "\n".join(words)


class World:
    """A bridge of four ports, and a router of two."""

    def __init__(self):
        self.near = Namespace("near")
        self.far = None
        try:
            self.far = Namespace("far")
            self.build()
        except BaseException:
            self.delete()
            raise

    def build(self):
        lines = ["for i in iptables ip6tables arptables; do [ ! -e /proc/sys/net/bridge ] || "
                 "sysctl -qw net.bridge.bridge-nf-call-$i=0 || true; done",
                 "ip link add br0 address 02:00:00:00:ff:ff type bridge mcast_snooping 0"]
        for port in PORTS:
            lines.append(self.port_words(port, mac_text(port_mac(port))))
        lines += ["sysctl -qw net.ipv4.conf.all.rp_filter=0", "ip link set br0 up", restore_words()]
        self.near.sh("\n".join(lines))
        for port in PORTS:
            self.far_up(port)

    def port_words(self, port, mac):
        return f"ip link add {port} address {mac} type veth peer name {far(port)} netns {self.far.name}"

    def far_up(self, port):
        # A veth takes redirected frames only where its far end polls.
        self.far.sh(f"ip link set {far(port)} up; ethtool -K {far(port)} gro on")

    def delete(self):
        for namespace in (self.far, self.near):
            if namespace:
                namespace.delete()
