# SPDX-License-Identifier: Apache-2.0
"""The page that `tna-bench report` makes, and what it refuses. Run with the path of tna-bench."""

import copy
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jinja2  # noqa: F401
    import matplotlib  # noqa: F401
except ImportError as error:
    print(f"SKIPPED: {error}: apt-get install python3-matplotlib python3-jinja2")
    sys.exit(0)

BENCH = sys.argv.pop(1)
MACHINE = {"kernel": "6.12", "cpu": "a CPU", "cpus": 2, "load_before": "0.10 0.1 0.1 1/1 1"}


def summary(value):
    return {"median": value, "min": value, "max": value, "quartiles": [value, value]}


def series(contender, mpps, stations=1, cpus=1, slow=0, size=64, rules=0, stolen=False):
    turn = {"mpps": mpps, "suspect": slow > 0, "sent": 1000, "lost": 3 if slow else 0, "late": 0,
            "twice": 0, "disturbed": stolen}
    return {"contender": contender, "stations": stations, "cpus": cpus, "frame_size": size,
            "routes": 1, "rules": rules, "routing_rules": 0, "entries": 0, "remarks": [],
            "tcp": "yes", "cores": 0, "mpps": summary(mpps), "rounds": [turn] * 6,
            "ns_per_frame": summary(1000 / mpps), "hop_ns": None, "x_ceiling": summary(mpps / 4),
            "x_linux": summary(mpps / 1), "not_measured": None}


def throughput(*more):
    return {"version": 4, "command": "throughput", "machine": MACHINE,
            "options": {"scenario": "bridge", "frame_size": 64},
            "series": [series("linux", 1.0), series("tna", 3.0), series("ceiling", 4.0), *more]}


def latency():
    entries = [{"contender": name, "load_percent": 50, "wanted_mpps": 0.5, "p50_ns": p50, "p90_ns": p50 * 2,
                "p99_ns": p50 * 3, "p999_ns": p50 * 4, "max_ns": p50 * 5, "jitter_ns": p50, "sent": 10, "lost": 0,
                "histogram": [[p50, 9], [p50 * 5, 1]]} for name, p50 in (("linux", 1620.0), ("tna", 2_500_000.0))]
    return {"version": 4, "command": "latency", "machine": MACHINE, "slowest": "linux",
            "options": {"scenario": "router", "frame_size": 64, "round_trip": False}, "series": entries}


def rfc2544():
    def entry(contender, mpps, **more):
        return {"contender": contender, "mpps": summary(mpps), "x_linux": summary(mpps), "x_ceiling": None, "cores": 0,
                "throttled": False, "tcp": "yes", "not_measured": None,
                "rounds": [{"mpps": mpps, "throttled": False, "trials": [{}] * 7}]} | more
    nobody = entry("polycube", 1.0) | {"mpps": None, "x_linux": None, "rounds": [], "not_measured": "not installed"}
    return {"version": 2, "command": "rfc2544", "machine": MACHINE,
            "options": {"scenario": "bridge", "frame_size": "imix", "loss_percent": 0.1},
            "series": [entry("linux", 1.0, throttled=True), entry("ovs", 2.5, cores=1, tcp="tx off"), nobody]}


def change():
    def times(most):
        return {"median_s": most / 2, "p99_s": most, "max_s": most, "all_s": [most]}
    def entry(contender, closed, opened):
        return {"contender": contender, "change": "a station moves", "closed": times(closed), "opened": times(opened),
                "not_measured": None}
    return {"version": 1, "command": "change", "machine": MACHINE, "options": {},
            "series": [entry("tna", 0, 0), entry("tna-mirror", 0.008, 0.001)]}


def containers():
    def entry(contender, rate):
        kinds = {kind: summary(rate) for kind in ("requests_per_second", "bits_per_second", "datagrams_per_second")}
        return kinds | {"contender": contender, "rounds": [], "x_linux": {kind: summary(rate / 1e9) for kind in kinds}}
    return {"version": 1, "command": "containers", "machine": MACHINE, "fast_part": 0.942,
            "options": {"routed": False, "outside": True, "rules": "docker"},
            "series": [entry("linux", 1e9), entry("tna", 1.25e9)]}


def micro():
    def row(module, over, **more):
        return {"module": module, "profile": module, "instructions": 300, "jited_bytes": 2000, "ns": None,
                "over_empty_ns": summary(over) if over else None, "not_timed": None} | more
    return {"version": 2, "command": "micro", "machine": MACHINE, "options": {},
            "rows": [row("bridge", 51.0), row("vlans", None, not_timed="no VLANs here")]}


class Page(html.parser.HTMLParser):
    """What a browser would load from elsewhere, and what it would show."""

    def __init__(self, text):
        super().__init__()
        self.foreign, self.pictures, self.text = [], 0, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.pictures += tag == "svg"
        self.foreign += [value for name, value in attributes
                         if name in ("src", "href", "xlink:href") and not (value or "").startswith("#")]

    def handle_data(self, data):
        self.text += data


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, *documents):
        files = []
        for number, document in enumerate(documents):
            files.append(self.folder / f"result{number}.json")
            files[-1].write_text(document if isinstance(document, str) else json.dumps(document))
        page = self.folder / "page.html"
        run = subprocess.run([BENCH, "report", *files, "--output", page, "--title", "A <title>"],
                             capture_output=True, text=True, check=False)
        return run, Page(page.read_text()) if page.exists() else None

    def refused(self, document, words):
        run, page = self.report(document)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(words, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, "one sentence")
        self.assertIsNone(page)

    def test_page_is_complete_in_itself_and_says_what_was_found(self):
        run, page = self.report(throughput(), latency())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(page.foreign, [])
        self.assertEqual(page.pictures, 3)
        self.assertIn("A <title>", page.text)
        self.assertIn("tna carries 3.00 (95 %: 3.00 to 3.00) times plain Linux and 0.75", page.text)
        self.assertIn("linux 1.62 µs, tna 2.5 ms", page.text)

    def test_scaling_is_drawn_from_three_loads_on(self):
        more = [series(name, rate, stations) for name, rate in (("linux", 0.9), ("tna", 2.0)) for stations in (200, 10000)]
        _, page = self.report(throughput(*more))
        self.assertEqual(page.pictures, 3 + 1)

    def test_rules_are_loads_of_their_own_and_none_of_them_is_a_place(self):
        more = [series(name, 2.0, rules=rules) for name in ("linux", "tna") for rules in (10, 100)]
        _, page = self.report(throughput(*more))
        self.assertEqual(page.pictures, 3 + 1)
        self.assertIn("Over netfilter rules, 1 station, 1 CPU, 64 bytes", page.text)
        self.assertIn("1 station, 1 CPU, 64 bytes, 100 netfilter rules", page.text)

    def test_changes_under_traffic_are_told(self):
        run, page = self.report(change())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("tna, a station moves: not one frame that was sent after the system call had returned", page.text)
        self.assertIn("tna-mirror, a station moves: the change held 4.000 ms after", page.text)

    def test_round_trips_are_called_so(self):
        result = latency()
        result["options"]["round_trip"] = True
        _, page = self.report(result)
        self.assertIn("Round trips: router, 64 bytes", page.text)
        self.assertIn("take no longer there and back than", page.text)

    def test_doubts_are_shown(self):
        result = throughput(series("tna", 2.0, stations=7, slow=1), series("ceiling", 4.0, stations=7))
        result["series"].append(series("linux", 1.0, stations=8) | {"rounds": [], "mpps": None, "x_ceiling": None,
                                                                    "x_linux": None, "not_measured": "no reason"})
        result["series"].append(series("direct", 3.0, stations=9, stolen=True) | {"remarks": ["it is sent otherwise"]})
        result["machine"] = MACHINE | {"load_before": "7.5 1 1"}
        _, page = self.report(result)
        self.assertIn("in 6 of 6 rounds part of the frames went to Linux", page.text)
        self.assertIn("18 frames were lost", page.text)
        self.assertIn("was not measured: no reason", page.text)
        self.assertIn("in 6 of 6 rounds other machines of the host took processor time", page.text)
        self.assertIn("direct: it is sent otherwise.", page.text)
        self.assertIn("busy before the measurement (load 7.5)", page.text)

    def test_throughput_without_loss_and_kinds_of_contenders_are_told(self):
        run, page = self.report(rfc2544())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(page.pictures, 1)
        self.assertIn("RFC 2544 throughput: bridge, IMIX", page.text)
        self.assertIn("ovs carries 2.50 Mpps with a loss of up to 0.1 %, 2.50 times plain Linux.", page.text)
        self.assertIn("linux carries 1.00 Mpps with a loss of up to 0.1 %, and throttles the generator", page.text)
        self.assertIn("polycube was not measured: not installed", page.text)
        self.assertIn("ovs: with a processor of its own", page.text)
        self.assertIn("ovs: real TCP connections work only where senders finish", page.text)

    def test_who_failed_later_carries_nothing_without_loss(self):
        result = rfc2544()
        result["series"][1]["not_measured"] = "frames arrived changed"
        _, page = self.report(result)
        self.assertIn("ovs was not measured: frames arrived changed", page.text)
        self.assertNotIn("ovs carries", page.text)

    def test_containers_are_told(self):
        run, page = self.report(containers())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("A container on a bridge and a machine outside with Docker's rules, both ends on one processor: 94.2 %",
                      page.text)
        self.assertIn("1.25 (1.25-1.25)", page.text)

    def test_costs_of_modules_are_told(self):
        _, page = self.report(micro())
        self.assertIn("bridge: 51 ns for each frame, 300 instructions.", page.text)
        self.assertIn("no VLANs here", page.text)

    def test_frame_sizes_are_loads_of_their_own(self):
        more = [series(name, 2.0, size=size) for name in ("linux", "tna") for size in (512, 1514, "imix")]
        _, page = self.report(throughput(*more))
        self.assertEqual(page.pictures, 4 + 1)
        self.assertIn("Over bytes, 1 station, 1 CPU", page.text)
        self.assertIn("1 station, 1 CPU, IMIX", page.text)

    def test_two_results_are_compared(self):
        faster = copy.deepcopy(throughput())
        for turn in faster["series"][1]["rounds"]:
            turn["mpps"] = 3.5
        _, page = self.report(throughput(), faster)
        self.assertIn("result1.json compared with result0.json", page.text)
        self.assertIn("faster", page.text)
        self.assertIn("no difference to be seen", page.text)

    def test_what_is_no_result_is_refused(self):
        whole = json.dumps(throughput())
        self.refused(whole[: len(whole) // 2], "is no whole result file")
        self.refused("{}", "is no result of tna-bench")
        self.refused("[1]", "is no result of tna-bench")
        self.refused(throughput() | {"version": 1}, "has version 1 of the results of 'throughput'")
        damaged = throughput()
        del damaged["series"][0]["mpps"]
        self.refused(damaged, "lacks 'mpps': it is damaged")
        damaged["series"][0]["mpps"] = 3
        self.refused(damaged, "is damaged (")
        damaged = throughput()
        del damaged["machine"]
        self.refused(damaged, "lacks 'machine': it is damaged")
        run = subprocess.run([BENCH, "report", "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot read '/nonexistent': No such file", run.stderr)

    def test_page_that_cannot_be_written_is_named(self):
        (self.folder / "r.json").write_text(json.dumps(throughput()))
        run = subprocess.run([BENCH, "report", self.folder / "r.json", "--output", "/nonexistent/p.html"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write '/nonexistent/p.html'", run.stderr)


if __name__ == "__main__":
    unittest.main()
