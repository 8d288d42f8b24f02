# SPDX-License-Identifier: Apache-2.0
"""Changes of everything that tnad looks at, and back."""

from world import BRIDGE_PORTS, PORTS, ROUTED_PORTS, far, mac_text, network, restore_words


class Churn:
    def __init__(self, chance, world, daemon):
        self.chance, self.world, self.daemon = chance, world, daemon
        self.undo = []  # what is to be taken back, last first
        self.changes = 0
        self.guests = 0
        self.kinds = [self.join, self.guest, self.flap, self.carrier, self.flag, self.stations, self.routes, self.way,
                      self.neighbours, self.traffic_control, self.netfilter, self.capture, self.sysctl, self.mtu,
                      self.module, self.pause, self.config, self.ask]

    def port(self, among=None):
        # Most frames are sent over the first two: they stay for most of the time.
        if among is None:
            among = BRIDGE_PORTS[2:] * 3 + BRIDGE_PORTS + ROUTED_PORTS * 3
        return self.chance.choice(among)

    def near(self, words):
        # What two changes at the same time make impossible is as well.
        self.world.near.sh(words, check=False)

    def later(self, words):
        self.undo.append(lambda: self.near(words))

    def change(self):
        if self.undo and self.chance.random() < 0.5:
            self.undo.pop(self.chance.randrange(len(self.undo)))()
        else:
            self.chance.choice(self.kinds)()
        self.changes += 1

    def restore(self):
        """As it was in the beginning."""
        while self.undo:
            self.undo.pop()()
        for port in PORTS:
            self.world.far_up(port)
        self.world.near.sh(restore_words())

    def join(self):
        port = self.port(BRIDGE_PORTS)
        self.near(f"ip link set {port} nomaster")
        self.later(f"ip link set {port} master br0")

    def guest(self):
        """A port that was never there before."""
        self.guests += 1
        name = f"g{self.guests % 1000}"
        self.near(f"{self.world.port_words(name, mac_text(bytes([2, 0, 0, 0, 0xFE, self.guests & 0xFF])))}\n"
                  f"ip link set {name} {self.chance.choice(['master br0 ', ''])}up")
        self.world.far.sh(f"ip link set {far(name)} up; ethtool -K {far(name)} gro on", check=False)
        if self.chance.random() < 0.5:
            self.near(f"ip address add 10.200.0.1/24 dev {name}")
        self.later(f"ip link del {name}")

    def flap(self):
        port = self.port()
        self.near(f"ip link set {port} down")
        self.later(f"ip link set {port} up")

    def carrier(self):
        port = self.port()
        self.world.far.sh(f"ip link set {far(port)} down")
        self.undo.append(lambda: self.world.far_up(port))

    def flag(self):
        port, flag = self.port(BRIDGE_PORTS), self.chance.choice(["isolated", "hairpin", "neigh_suppress", "locked"])
        self.near(f"bridge link set dev {port} {flag} on")
        self.later(f"bridge link set dev {port} {flag} off")

    def stations(self):
        port, number = self.port(BRIDGE_PORTS), self.chance.randrange(256)
        lines = [f"fdb replace 02:00:00:02:{number:02x}:{i:02x} dev {port} master static" for i in range(100)]
        self.near(f"printf '{chr(10).join(lines)}\n' | bridge -batch -")
        self.later("printf '" + "\n".join(line.replace("replace", "del") for line in lines) + "\n' | bridge -batch -")

    def routes(self):
        net, six = network(self.port(ROUTED_PORTS)), self.chance.random() < 0.5
        third = self.chance.randrange(250)
        lines = [f"-6 route replace fd77:{third:x}:{i:x}::/48 via fd0{net}::2" if six else
                 f"route replace 10.77.{third}.{i}/32 via 10.{net}.0.2" for i in range(200)]
        batch = "ip -6 -batch -" if six else "ip -batch -"
        lines = [line.removeprefix("-6 ") for line in lines]
        self.near(f"printf '{chr(10).join(lines)}\n' | {batch}")
        self.later("printf '" + "\n".join(line.replace("replace", "del") for line in lines) + f"\n' | {batch}")

    def way(self):
        """A route to where packets are sent, to the other side or to nowhere."""
        net = self.chance.randrange(2)
        self.near(self.chance.choice([
            f"ip route replace 10.{net + 1}0.0.0/16 via 10.{2 - net}.0.2",
            f"ip route replace blackhole 10.{net + 1}0.0.0/16",
            f"ip route replace 10.{net + 1}0.0.0/16 nexthop via 10.1.0.2 nexthop via 10.2.0.2",
            f"ip -6 route replace fd{net + 1}0::/16 via fd0{2 - net}::2",
            f"ip -6 route del fd{net + 1}0::/16"]))
        self.later(f"ip -6 route flush root fd{net + 1}0::/16; ip route flush root 10.{net + 1}0.0.0/16\n"
                   f"{restore_words()}")

    def neighbours(self):
        net = network(self.port(ROUTED_PORTS))
        device = ROUTED_PORTS[net - 1]
        mac = f"02:00:00:00:03:{self.chance.randrange(256):02x}"
        for address in (f"10.{net}.0.2", f"fd0{net}::2"):
            self.near(self.chance.choice([f"ip neigh del {address} dev {device}",
                                          f"ip neigh replace {address} lladdr {mac} dev {device} nud permanent",
                                          f"ip neigh replace {address} lladdr {mac} dev {device} nud stale"]))
        self.later(restore_words())

    def traffic_control(self):
        port = self.port()
        if self.chance.random() < 0.5:
            self.near(f"tc qdisc add dev {port} clsact && tc filter add dev {port} ingress protocol all "
                      "u32 match u32 0 0 flowid 1:1")
            self.later(f"tc qdisc del dev {port} clsact")
        else:
            self.near(f"tc qdisc replace dev {port} root {self.chance.choice(['fq_codel', 'prio', 'pfifo limit 100'])}")
            self.later(f"tc qdisc del dev {port} root")

    def netfilter(self):
        name = f"t{self.changes % 1000}"
        family, chain = self.chance.choice([
            ("netdev", f"hook ingress device {self.port()} priority 0"), ("bridge", "hook forward priority 0"),
            ("inet", "hook forward priority 0"), ("inet", "hook input priority 0")])
        self.near(f"nft add table {family} {name} && nft add chain {family} {name} c '{{ type filter {chain}; }}' && "
                  f"for i in 1 2 3 4 5; do nft add rule {family} {name} c meta mark $i counter drop; done")
        self.later(f"nft delete table {family} {name}")

    def capture(self):
        self.near(f"timeout 0.2 tcpdump -c 2000 -i {self.chance.choice([self.port(), 'any'])} -w /dev/null")

    def sysctl(self):
        name, value, usual = self.chance.choice([
            ("net.ipv4.ip_forward", 0, 1), ("net.ipv6.conf.all.forwarding", 0, 1), ("net.ipv4.conf.r0.rp_filter", 1, 0),
            ("net.ipv4.conf.r1.forwarding", 0, 1), ("net.ipv4.conf.all.rp_filter", 2, 0)])
        self.near(f"sysctl -qw {name}={value}")
        self.later(f"sysctl -qw {name}={usual}")

    def mtu(self):
        port = self.port()
        self.near(f"ip link set {port} mtu {self.chance.choice([1000, 1400, 9000])}")
        self.later(f"ip link set {port} mtu 1500")

    def module(self):
        file = f"{self.daemon.build}/examples/{self.chance.choice(['monitor', 'rate-limit', 'sampler'])}.bpf.o"
        name = self.chance.choice(["one", "two"])
        port = self.chance.choice(["b*", "r*", "*"])
        verb = self.chance.choice(["insert", "insert", "replace"])
        self.daemon.ctl("module", verb, file, "--name", name, "--port", port, check=False)
        self.undo.append(lambda: self.daemon.ctl("module", "remove", name, check=False))

    def pause(self):
        words = self.chance.choice([[], [self.port()]])
        self.daemon.ctl("pause", *words, check=False)
        self.undo.append(lambda: self.daemon.ctl("resume", *words, check=False))

    def config(self):
        self.daemon.write_config(f'"{self.port()}"')
        self.daemon.reload()

        def back():
            self.daemon.write_config()
            self.daemon.reload()

        self.undo.append(back)

    def ask(self):
        for path in ("/v1/status", "/v1/graph", "/v1/capabilities", "/v1/modules", "/metrics"):
            self.daemon.get(path)
        self.daemon.ctl("explain", self.port(), check=False)
        self.daemon.ctl("route", "r0", "10.1.0.2", "10.20.0.2", check=False)
