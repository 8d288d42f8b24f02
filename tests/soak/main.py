#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tnad under load while everything changes, and whether anything grows; tools/soak runs it.

Each round: changes at random while frames are sent; all is put back; every port must be accelerated again and
frames arrive as they should; what tnad uses is written down; then tna-diff plays random cases that nobody has
played before, or tnad is killed elsewhere. Exit codes: 0 nothing grew or went wrong, 1 something did, 77 not here."""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from churn import Churn
from daemon import Daemon
from growth import judge_all, table
from traffic import Load, Wires
from world import PORTS, Failure, World, remove_leftovers, run

JOINS = 5  # of which the median is taken


class Soak:
    def __init__(self, options, folder):
        self.options, self.build = options, options.build
        self.chance = random.Random(options.seed)
        self.began = time.monotonic()
        self.rounds, self.failures = [], []
        self.totals = {"rounds": 0, "changes": 0, "frames_sent": 0, "frames_arrived": 0, "cases": 0, "packets": 0,
                       "fast_packets": 0, "differences": 0, "kills": 0}
        self.next_case = options.seed
        self.world = World()
        try:
            self.daemon = Daemon(self.build, self.world.near, folder)
        except BaseException:
            self.world.delete()
            raise
        self.churn = Churn(self.chance, self.world, self.daemon)
        self.wires = Wires(self.world, PORTS)
        self.folder = folder

    def elapsed(self):
        return time.monotonic() - self.began

    def play(self):
        seconds = self.options.seconds
        self.daemon.wait_accelerated(PORTS, 60)
        while self.elapsed() < seconds or not self.rounds:
            self.round(min(self.options.round, max(2.0, seconds / 20)))

    def round(self, length):
        # As many frames as a processor sends hold up what waits for the kernel's grace periods: changes.
        load = Load(self.build, self.world, length / 5)
        try:
            end = time.monotonic() + length
            while time.monotonic() < end:
                self.churn.change()
                self.wires.send()
            self.churn.restore()
            carried = load.end()
        except BaseException:
            load.kill()
            raise
        self.totals["frames_sent"] += carried["sent"]
        self.totals["frames_arrived"] += carried["received"]
        self.daemon.wait_accelerated(PORTS)
        self.wires.verify()
        self.rounds.append(self.sample(length))
        self.totals["rounds"] += 1
        self.totals["changes"] = self.churn.changes
        self.elsewhere()
        self.tell()

    def sample(self, length):
        joins = sorted(self.join() for _ in range(JOINS))
        answers = []
        for _ in range(JOINS):
            began = time.monotonic()
            self.daemon.get("/v1/status")
            answers.append(time.monotonic() - began)
        # What is kept for later changes, and what is counted at leisure, is there by then.
        deadline = time.monotonic() + 20
        while not self.daemon.get("/v1/events").get("settled", True) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(min(1.0, length / 4))
        events = self.daemon.get("/v1/events")
        return {"at_s": self.elapsed(), "join_ms": joins[JOINS // 2] * 1e3,
                "answer_ms": sorted(answers)[JOINS // 2] * 1e3, "swap_us": events["last_swap_us"],
                "swaps": events["swaps"], "failed": events["failures"], **self.daemon.usage()}

    def join(self):
        """From when a port has joined a bridge to when it is accelerated."""
        self.world.near.sh("ip link set b3 nomaster")
        deadline = time.monotonic() + 20
        while self.daemon.states().get("b3") == "accelerated":
            if time.monotonic() > deadline:
                raise Failure("a port that has left its bridge is still accelerated")
        self.world.near.sh("ip link set b3 master br0")
        return self.daemon.wait_accelerated(["b3"])

    def elsewhere(self):
        """In namespaces of their own, beside this one's."""
        if self.totals["rounds"] % 10 == 0:
            run(f"{self.build}/tools/bench/tna-bench", "kill", "--rounds", "1", "--seconds", "0.3", timeout=300)
            self.totals["kills"] += 1
            return
        first, cases = self.next_case, self.options.cases
        self.next_case += cases
        output = run(f"{self.build}/tools/diff/tna-diff", "random", "--seeds", f"{first}..{first + cases - 1}",
                     "--packets", "1000", "--keep-going", "--json", "--folder", self.options.folder, check=False,
                     timeout=1800)
        try:
            figures = json.loads(output[output.index("{"):])
        except ValueError:
            raise Failure(f"tna-diff random --seeds {first}..{first + cases - 1}: {output.strip()[-2000:]}") from None
        for name, key in (("cases", "configurations"), ("packets", "packets"), ("fast_packets", "fast_packets"),
                          ("differences", "differences")):
            self.totals[name] += figures[key]
        if figures["differences"]:
            self.failures.append(f"tna-diff random --seeds {first}..{first + cases - 1} --packets 1000: "
                                 f"{output[:output.index('{')].strip()}")

    def tell(self):
        last = self.rounds[-1]
        print(f"{last['at_s'] / 60:6.1f} min: {self.totals['changes']} changes, "
              f"{self.totals['frames_arrived'] / 1e6:.1f} M frames; {last['rss_kib'] / 1024:.1f} MiB, "
              f"{last['threads']} threads, {last['descriptors']} descriptors, {last['progs']} programs, "
              f"{last['maps']} maps, {last['links']} links; joined in {last['join_ms']:.0f} ms; "
              f"{self.totals['packets']} packets compared, {self.totals['differences']} differences", flush=True,
              file=sys.stderr)

    def end(self):
        try:
            self.daemon.stop()
        except Failure as failure:
            self.failures.append(str(failure))

    def close(self):
        self.wires.close()
        self.daemon.kill()
        self.world.delete()


def report(soak, options):
    findings = judge_all(soak.rounds) if soak.rounds else []
    soak.failures += [f"{finding.name} grows: {finding.first:.1f} -> {finding.last:.1f}"
                      for finding in findings if finding.grows]
    passed = not soak.failures
    if options.json:
        print(json.dumps({"version": 1, "passed": passed, "failures": soak.failures, "seed": options.seed,
                          "seconds": soak.elapsed(), "totals": soak.totals,
                          "findings": [vars(finding) for finding in findings], "rounds": soak.rounds}, indent=1))
    else:
        print(f"\nseed {options.seed}, {soak.elapsed() / 60:.1f} minutes: " +
              ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in soak.totals.items()))
        print(table(findings))
        for failure in soak.failures:
            print(f"FAILED: {failure}")
        print("passed" if passed else "failed")
    return 0 if passed else 1


def parse():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.split("\n\n", maxsplit=1)[0])
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float)
    length.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, help="what happens; by default another one each time, which is told")
    parser.add_argument("--cases", type=int, default=5, help="of tna-diff, in each round (5)")
    parser.add_argument("--round", type=float, default=15, help="seconds of changes in each round (15)")
    parser.add_argument("--folder", default=".", help="where tna-diff puts what it finds")
    parser.add_argument("--json", action="store_true", help="every round, for programs")
    parser.add_argument("--build", type=lambda path: str(Path(path).resolve()), required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.seconds = 3600 * options.hours if options.hours else 60 * (options.minutes or 60)
    # Beyond those that the tests and docs/equivalence.md have played.
    options.seed = options.seed if options.seed is not None else 100000 + int(time.time())
    return options


def stop(*_):
    raise KeyboardInterrupt


def main():
    options = parse()
    if os.geteuid() != 0:
        print("SKIPPED: soak needs root, for network namespaces")
        return 77
    if missing := [name for name in ("ip", "bridge", "tc", "nft", "ethtool", "tcpdump") if not shutil.which(name)]:
        print(f"SKIPPED: {', '.join(missing)} not installed (tools/install-deps does it)")
        return 77
    signal.signal(signal.SIGTERM, stop)
    remove_leftovers()
    with tempfile.TemporaryDirectory(prefix="tna-soak-") as folder:
        soak = Soak(options, folder)
        try:
            soak.play()
            soak.end()
        except Failure as failure:
            soak.failures.append(str(failure))
        except KeyboardInterrupt:
            print("soak: stopped; what there is so far:", file=sys.stderr)
        finally:
            soak.close()
        return report(soak, options)


if __name__ == "__main__":
    sys.exit(main())
