# SPDX-License-Identifier: Apache-2.0
"""The statistics of studies, against answers that are known: worked examples, and scipy's own. Run with the path of
tna-bench."""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = sys.argv.pop(1)
REPORT = pathlib.Path(BENCH).parent / "report"
sys.path.insert(0, str(REPORT))
sys.dont_write_bytecode = True
try:
    import numpy
    import seaborn  # noqa: F401
    from scipy import stats
    from studies import anova, delays, tenants
except ImportError as error:
    print(f"SKIPPED: {error}: apt-get install python3-sklearn python3-scipy python3-seaborn")
    sys.exit(0)

MACHINE = {"kernel": "6.12", "cpu": "a CPU", "cpus": 2, "load_before": "0.10 0.1 0.1 1/1 1"}


def run(median, spread=0.1, sent=100, lost=0):
    """One whose quantiles are evenly spread around the median, in nanoseconds."""
    quantiles = [median * (1 - spread + 2 * spread * percent / 100) for percent in range(101)]
    return {"sent": sent, "lost": lost, "wrong": 0, "not_measured": None, "mean_ns": float(median),
            "median_ns": float(median), "sd_ns": median * spread / 2, "q1_ns": median * (1 - spread / 2),
            "q3_ns": median * (1 + spread / 2), "min_ns": median * (1 - spread), "max_ns": median * (1 + spread),
            "quantiles_ns": quantiles}


ON_OFF = (False, True)
NAMES = ("zero_copy", "busy_poll", "need_wakeup", "poll_forwarder", "poll_receiver", "deep_idle", "rx_coalescing",
         "tx_coalescing")


def settings(**on):
    return {name: on.get(name, name in ("deep_idle", "rx_coalescing", "tx_coalescing")) for name in NAMES}


def delays_document(median_of, intervals=(0.005,), wobble=(1, 1.01, 0.99), again=1.0, ping=50_000):
    """Of a function of the settings and the interval."""
    series = []
    for interval in intervals:
        for busy, wakeup, receiver in itertools.product(ON_OFF, ON_OFF, ON_OFF):
            one = settings(busy_poll=busy, need_wakeup=wakeup, poll_receiver=receiver)
            series.append({"settings": one, "interval": interval, "again": False,
                           "runs": [run(median_of(one, interval) * times) for times in wobble]})
        usual = settings(need_wakeup=True)
        series.append({"settings": usual, "interval": interval, "again": True,
                       "runs": [run(median_of(usual, interval) * times * again) for times in wobble]})
    yard = [{"name": name, "interval": interval, "runs": [run(value)]} for interval in intervals
            for name, value in (("loop", 50), ("xdp_echo", 2000), ("udp_echo", 20_000), ("ping", ping))]
    missing = [{"setting": name, "reason": "not here"} for name in ("zero_copy", "rx_coalescing", "tx_coalescing")]
    return {"version": 1, "command": "delays", "machine": MACHINE, "missing": missing, "complete": True,
            "options": {"intervals": list(intervals), "seconds": 1, "rounds": len(wobble), "frame_size": 64, "clusters": 0,
                        "tx": None, "rx": None}, "series": series, "yardsticks": yard, "arguments": ["delays"]}


def as_in_the_paper(one, interval):
    """Quick with busy polling and without need_wakeup; poll() in the receiver costs."""
    base = 10_000 if one["busy_poll"] and not one["need_wakeup"] else 60_000
    return (base + (100_000 if one["poll_receiver"] else 0)) * (1 if interval > 0.001 else 0.7)


def tenants_document(mpps_of, rounds=4, sizes=(64,), subjects=(("xdp", (1, 10)), ("dpdk", (1, 10)), ("bridge", (0,)),
                                                               ("bridge-tna", (0,)))):
    series = []
    beside = [("none", 0, False), ("none", 0, True)] + [(burden, count, False) for burden in ("cpu", "network")
                                                        for count in (8, 32)]
    for (subject, times), size in itertools.product(subjects, sizes):
        for checksums, (burden, count, again) in itertools.product(times, beside):
            runs = [{"not_measured": None, "mpps": mpps_of(subject, size, checksums, burden, count) * (1 + 0.001 * number),
                     "loss": 1 - mpps_of(subject, size, checksums, burden, count) / 20, "offered": 10, "handled": 5,
                     "running": count} for number in range(rounds)]
            series.append({"subject": subject, "frame_size": size, "checksums": checksums, "burden": burden,
                           "tenants": count, "again": again, "not_measured": None, "runs": runs})
    return {"version": 1, "command": "tenants", "machine": MACHINE, "missing": [], "complete": True, "series": series,
            "arguments": ["tenants"],
            "options": {"subjects": [name for name, _ in subjects], "burdens": ["cpu", "network"], "tenants": [0, 8, 32],
                        "sizes": list(sizes), "checksums": [1, 10], "seconds": 1, "rounds": rounds}}


def neighbours_cost_linux(subject, size, checksums, burden, count):
    alone = {"xdp": 7.1, "dpdk": 14.2, "bridge": 1.0, "bridge-tna": 4.0}[subject] * (0.5 if checksums == 10 else 1)
    return alone * (1 - (0.01 if subject == "bridge" else 0.002) * count)


class Variance(unittest.TestCase):
    def test_one_factor_is_as_scipy_has_it(self):
        # Pea plants, Snedecor and Cochran: any numbers will do, the yardstick is scipy.
        groups = {"a": [75, 67, 70, 75, 65], "b": [57, 58, 60, 59, 62], "c": [58, 61, 56, 58, 57]}
        levels = [name for name, values in groups.items() for _ in values]
        values = [value for own in groups.values() for value in own]
        row, = anova.variance({"sugar": levels}, values)
        expected = stats.f_oneway(*groups.values())
        self.assertAlmostEqual(row["f"], expected.statistic, 9)
        self.assertAlmostEqual(row["p"], expected.pvalue, 9)
        self.assertTrue(row["low"] <= row["share"] <= 1 and row["high"] <= 1)

    def test_two_factors_and_their_pair_share_out_the_sum_of_squares(self):
        # By hand: effects of 3 and 1 and a product of 0.5 around 10; squares 4 * (9, 1, 0.25) for each of two values.
        cells = [(one, other) for one in (-1, 1) for other in (-1, 1) for _ in range(2)]
        noise = itertools.cycle([0.1, -0.1])
        values = [10 + 3 * one + other + 0.5 * one * other + next(noise) for one, other in cells]
        rows = anova.variance({"x": [str(one) for one, _ in cells], "y": [str(other) for _, other in cells]}, values)
        whole = 8 * (9 + 1 + 0.25 + 0.01)
        self.assertEqual([row["term"] for row in rows], [["x"], ["y"], ["x", "y"]])
        for row, square in zip(rows, (9, 1, 0.25)):
            self.assertAlmostEqual(row["share"], 8 * square / whole, 9)
            self.assertAlmostEqual(row["f"], 8 * square / (8 * 0.01 / 4), 6)
            self.assertLess(row["low"], row["high"])

    def test_what_is_resampled_stays_within_its_cell(self):
        # Without noise inside of cells, all samples are the same.
        rows = anova.variance({"x": ["a", "a", "b", "b", "b"]}, [1, 1, 4, 4, 4])
        self.assertAlmostEqual(rows[0]["low"], 1, 9)
        self.assertAlmostEqual(rows[0]["high"], 1, 9)

    def test_what_does_not_differ_explains_nothing(self):
        self.assertEqual(anova.variance({"x": ["a", "a", "a"]}, [1, 2, 3]), [])
        self.assertEqual(anova.variance({"x": ["a", "b", "a"]}, [2, 2, 2]), [])


class Clusters(unittest.TestCase):
    def rows(self, means):
        return [{name: run(mean)[name] for name in ("mean_ns", "median_ns", "sd_ns", "q1_ns", "q3_ns")} for mean in means]

    def test_groups_that_are_far_apart_are_found_in_order_of_their_means(self):
        labels, score = delays.cluster(self.rows([5000, 90, 101, 5100, 100, 1000, 1010]))
        self.assertEqual(labels, [2, 0, 0, 2, 0, 1, 1])
        self.assertGreater(score, 0.9)

    def test_another_number_of_clusters_can_be_asked_for(self):
        labels, _ = delays.cluster(self.rows([5000, 90, 101, 5100, 100, 1000, 1010]), 2)
        self.assertEqual(labels, [1, 0, 0, 1, 0, 0, 0])

    def test_the_same_points_are_one_cluster(self):
        self.assertEqual(delays.cluster(self.rows([100] * 5)), ([0] * 5, None))

    def test_only_what_all_members_have_is_shared(self):
        both = [{"a": True, "b": True, "c": False}, {"a": True, "b": False, "c": False}]
        self.assertEqual(delays.shared(both, ["a", "b"]), {"a": True})


class Delays(unittest.TestCase):
    def verdicts(self, analysis):
        return {one["finding"]: one["verdict"] for one in analysis["findings"]}

    def test_findings_hold_where_they_were_put_in(self):
        document = delays_document(as_in_the_paper, intervals=(0.005, 0.0006))
        document["options"]["clusters"] = 4
        analysis = delays.analyse(document)
        verdicts = self.verdicts(analysis)
        self.assertEqual(verdicts["best with busy polling on and need_wakeup off"], "holds")
        self.assertEqual(verdicts["poll() in the receiver always makes it worse"], "holds")
        self.assertEqual(verdicts["the best settings are quicker than the system's ping"], "holds")
        self.assertEqual(verdicts["the shorter the interval, the shorter the delays"], "holds")
        self.assertEqual(verdicts["what is best at one interval is so at others"], "holds")
        self.assertEqual(verdicts["C-states have little to no effect"], "cannot be asked")
        self.assertEqual(verdicts["coalescing of what comes has no effect"], "cannot be asked")
        self.assertEqual(analysis["explained"][0]["term"], ["poll_receiver"])
        recommended = analysis["recommended"]
        self.assertTrue(recommended["settings"]["busy_poll"])
        self.assertEqual(recommended["line"], 'mode = "copy"')
        self.assertIn("no need_wakeup", " ".join(recommended["others"]))
        self.assertEqual(verdicts["with the right settings it takes less than 10 µs there and back"], "holds")
        self.assertEqual(verdicts["what measures costs 5 to 10 µs itself"], "does not hold")
        self.assertEqual(verdicts["without an interval probes wait in buffers, and delays grow"], "cannot be asked")
        first = analysis["intervals"][0]["clusters"][0]
        self.assertEqual(first["always"], {"busy_poll": True, "need_wakeup": False, "poll_receiver": False})

    def test_findings_do_not_hold_where_the_contrary_was_put_in(self):
        analysis = delays.analyse(delays_document(
            lambda one, _: 80_000 - (30_000 if one["poll_receiver"] else 0) + (9000 if one["busy_poll"] else 0)))
        verdicts = self.verdicts(analysis)
        self.assertEqual(verdicts["best with busy polling on and need_wakeup off"], "does not hold")
        self.assertEqual(verdicts["poll() in the receiver always makes it worse"], "does not hold")
        self.assertEqual(verdicts["the best settings are quicker than the system's ping"], "does not hold")

    def test_the_worst_and_what_measuring_costs_are_told(self):
        document = delays_document(lambda one, _: 200_000 if one["busy_poll"] and one["poll_receiver"] else 20_000)
        for one in document["yardsticks"]:
            if one["name"] == "loop":
                one["runs"] = [run(7000)]
        verdicts = self.verdicts(delays.analyse(document))
        self.assertEqual(verdicts["worst with busy polling and poll() in the receiver"], "holds")
        self.assertEqual(verdicts["with the right settings it takes less than 10 µs there and back"], "does not hold")
        self.assertEqual(verdicts["what measures costs 5 to 10 µs itself"], "holds")

    def c_states(self, cost):
        """Where deep ones multiply delays by `cost` of each pair of configurations, one by one."""
        document = delays_document(lambda *_: 20_000)
        costs = itertools.cycle(cost)
        for one in list(document["series"]):
            if not one["again"]:
                times = next(costs)
                shallow = json.loads(json.dumps(one)) | {"settings": one["settings"] | {"deep_idle": False}}
                one["runs"] = [run(20_000 * times) for _ in range(3)]
                document["series"].append(shallow)
        return self.verdicts(delays.analyse(document))["C-states have little to no effect"]

    def test_that_an_effect_may_be_an_accident_does_not_say_that_there_is_none(self):
        self.assertEqual(self.c_states([1.02]), "holds")
        self.assertEqual(self.c_states([1.4, 1.5, 1.6]), "does not hold")
        self.assertEqual(self.c_states([0.5, 2.5, 1.3, 1.25]), "cannot be told")

    def test_settings_are_told_as_what_they_are(self):
        one = settings(zero_copy=True, rx_coalescing=False, tx_coalescing=True, deep_idle=False, poll_forwarder=True)
        self.assertEqual(delays._others(one, ["rx_coalescing", "tx_coalescing", "deep_idle", "poll_forwarder"]), [
            "the function sleeps until there is something (TNA_FUNCTION_POLL)", "ethtool -C DEVICE rx-usecs 0",
            "tx coalescing as it is", "a process that keeps 0 in /dev/cpu_dma_latency"])
        document = delays_document(lambda one, _: 50_000)
        for series in document["series"]:
            series["settings"]["zero_copy"] = True
        self.assertEqual(delays.analyse(document)["recommended"]["line"], 'mode = "zero-copy"')

    def test_what_is_strange_is_flagged_and_not_left_out(self):
        document = delays_document(lambda one, _: 4_000_000 if one["busy_poll"] else 20_000 if one["need_wakeup"] else 60_000)
        document["series"][0]["runs"][0]["lost"] = 1
        document["series"][2]["runs"] = [{"not_measured": "no such driver"}]
        rows = delays.analyse(document)["intervals"][0]["rows"]
        self.assertEqual(len(rows), 8)
        flags = [row["flags"] for row in rows]
        self.assertEqual(sum("near the interval" in one for one in flags), 4)
        self.assertEqual(sum("above ping" in one for one in flags), 6)
        self.assertEqual(sum("lost" in one for one in flags), 1)
        self.assertIn("not measured", rows[-1]["flags"])

    def test_a_run_that_noise_makes_worthless_is_called_so(self):
        quiet = delays.analyse(delays_document(as_in_the_paper, again=1.02))["noise"]
        self.assertAlmostEqual(quiet["itself"], 0.02, 6)
        self.assertFalse(quiet["worthless"])
        loud = delays.analyse(delays_document(lambda one, _: 50_000 + one["busy_poll"], again=1.5))
        self.assertTrue(loud["noise"]["worthless"])
        self.assertIn("worth nothing", " ".join(delays.sentences(loud)))

    def test_settings_that_are_as_good_within_the_noise_stay_as_usual(self):
        analysis = delays.analyse(delays_document(
            lambda one, _: 90_000 if one["poll_receiver"] else 50_000 - 100 * one["busy_poll"], again=1.05))
        self.assertEqual(analysis["recommended"]["settings"], settings(need_wakeup=True))
        self.assertEqual(analysis["recommended"]["alike"], 4)

    def test_nothing_measured_is_no_accident(self):
        document = delays_document(as_in_the_paper) | {"series": [], "yardsticks": [], "complete": False}
        analysis = delays.analyse(document)
        self.assertIsNone(analysis["recommended"])
        self.assertTrue(all(one["verdict"] == "cannot be asked" for one in analysis["findings"]))
        self.assertIsInstance(delays.text(document, analysis), str)


class Tenants(unittest.TestCase):
    def test_ranks_are_correlated_as_spearman_did_it(self):
        # A worked example: IQ and hours of television, rho = -29/165.
        iq, hours = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110], [7, 0, 27, 50, 28, 29, 20, 12, 6, 17]
        self.assertAlmostEqual(stats.spearmanr(iq, hours).statistic, -29 / 165, 9)
        document = tenants_document(lambda *_: 1.0, subjects=(("xdp", (1,)),))
        document["series"] = [document["series"][0] | {"burden": "cpu", "tenants": one, "runs": [
            document["series"][0]["runs"][0] | {"mpps": other}]} for one, other in zip(iq, hours)]
        row = next(one for one in tenants.correlations(document) if (one["factor"], one["metric"]) == ("tenants", "mpps"))
        self.assertAlmostEqual(row["rho"], -29 / 165, 9)

    def test_p_values_are_corrected_for_their_number(self):
        # Holm by hand: 0.01 * 4, 0.02 * 3, 0.03 * 2, and no less than before.
        for one, expected in zip(tenants.holm([0.03, 0.01, None, 0.9, 0.02]), [0.06, 0.04, None, 0.9, 0.06]):
            self.assertEqual(one is None, expected is None)
            if one is not None:
                self.assertAlmostEqual(one, expected, 12)

    def test_what_was_put_in_comes_out(self):
        document = tenants_document(neighbours_cost_linux, sizes=(64, 1500))
        analysis = tenants.analyse(document)
        strongest = max((row for row in analysis["correlations"] if row["subject"] == "xdp" and row["metric"] == "mpps"),
                        key=lambda row: abs(row["rho"]))
        self.assertEqual(strongest["factor"], "checksums")
        self.assertLess(strongest["p_corrected"], 0.05)
        self.assertGreaterEqual(strongest["p_corrected"], strongest["p"])
        bridge = next(row for row in analysis["compared"] if row["burden"] == "cpu" and row["frame_size"] == 64)
        self.assertAlmostEqual(bridge["linux_keeps"], 0.68, 2)
        self.assertAlmostEqual(bridge["tna_keeps"], 0.936, 2)
        self.assertGreater(bridge["interval"][0], 1)
        verdicts = {one["finding"]: one["verdict"] for one in analysis["findings"]}
        self.assertEqual(verdicts["with small packets DPDK drops more than XDP"], "holds")
        self.assertEqual(verdicts["the number of checksums decides about XDP more than tenants do"], "holds")
        self.assertFalse(analysis["noise"]["worthless"])
        self.assertIn("tna suffers less", " ".join(tenants.sentences(analysis)))

    def verdicts(self, document):
        return {one["finding"]: one["verdict"] for one in tenants.analyse(document)["findings"]}

    def as_in_the_paper(self, subject, size, checksums, burden, count):
        """Mpps at 14.88 Mpps of 64 bytes, or 0.82 of 1500, that are offered; loss is what is left of it."""
        if size == 1500:
            return 0.82 - (0.002 * count / 128 if subject == "xdp" else 0.001 * count / 128)
        alone = {"xdp": (7.096, 2.99), "dpdk": (14.205, 10.676)}[subject][checksums == 10]
        if burden == "network":
            return alone * (1 - 0.09 * count / 128)
        return alone * (1 - (0.02 * count / 128 if burden == "cpu" and subject == "dpdk" and checksums == 10 else 0))

    def document_of_the_paper(self, rounds=6):
        document = tenants_document(self.as_in_the_paper, rounds=rounds, sizes=(64, 1500),
                                    subjects=(("xdp", (1, 10)), ("dpdk", (1, 10))))
        disk = [json.loads(json.dumps(one)) | {"burden": "disk"} for one in document["series"] if one["burden"] == "cpu"]
        document["series"] += disk
        document["options"] |= {"burdens": ["cpu", "disk", "network"], "tenants": [0, 32, 128]}
        for one in document["series"]:
            one["tenants"] = {0: 0, 8: 32, 32: 128}[one["tenants"]]
            offered = 14.88 if one["frame_size"] == 64 else 0.82
            for number, turn in enumerate(one["runs"]):
                mpps = self.as_in_the_paper(one["subject"], one["frame_size"], one["checksums"], one["burden"], one["tenants"])
                turn["mpps"] = mpps * (1 + 0.0001 * number)
                turn["loss"] = max(0, 1 - mpps / offered)
        return document

    def test_findings_of_the_paper_hold_where_they_were_put_in(self):
        document = self.document_of_the_paper()
        for one in document["series"]:  # unstable, but no slower
            if (one["subject"], one["frame_size"], one["burden"], one["tenants"]) == ("xdp", 1500, "network", 128):
                for turn, times in zip(one["runs"], (0.98, 1.02, 0.97, 1.03, 0.99, 1.01)):
                    turn["mpps"] *= times
        verdicts = self.verdicts(document)
        expected = {
            "with small packets DPDK drops more than XDP": "holds",
            "XDP loses about half of the small packets, DPDK almost none": "holds",
            "10 checksums in the place of 1 cost XDP much (the paper: 57.8 %)": "holds",
            "10 checksums in the place of 1 cost DPDK by AF_XDP much (the paper: 24.8 %)": "holds",
            "small packets are lost more often than large ones": "holds",
            "the number of checksums decides about XDP more than tenants do": "holds",
            "the number of checksums decides about DPDK by AF_XDP more than tenants do": "holds",
            "tenants that load CPUs cost DPDK throughput of small packets when it computes many checksums": "holds",
            "and cost XDP nothing then": "holds",
            "tenants that load a disk cost nothing": "holds",
            "tenants that load the network cost throughput of small packets": "holds",
            "tenants that load the network have DPDK lose more small packets (the paper: 6 %)": "holds",
            "with large packets, tenants cost XDP no throughput": "holds",
            "with large packets, tenants cost DPDK by AF_XDP no throughput": "holds",
            "with large packets, tenants that load the network make XDP's throughput vary": "holds",
            "the more tenants, the more large packets are lost": "holds",
            "with large packets, the number of checksums decides nothing about DPDK": "holds",
            "with large packets, tenants decide about XDP's loss more than checksums do": "holds"}
        self.assertEqual({text: verdicts[text] for text in expected}, expected)

    def test_findings_do_not_hold_where_the_contrary_was_put_in(self):
        document = self.document_of_the_paper()
        for one in document["series"]:
            for turn in one["runs"]:
                # Tenants of all kinds halve what XDP does; ten checksums make DPDK quicker, which says nothing for the paper.
                if one["subject"] == "xdp" and one["tenants"] == 128:
                    turn["mpps"] /= 2
                if one["subject"] == "dpdk" and one["checksums"] == 10:
                    turn["mpps"] = 20.0
        verdicts = self.verdicts(document)
        for text in ("tenants that load a disk cost nothing", "and cost XDP nothing then",
                     "with large packets, tenants cost XDP no throughput",
                     "10 checksums in the place of 1 cost DPDK by AF_XDP much (the paper: 24.8 %)",
                     "the number of checksums decides about DPDK by AF_XDP more than tenants do"):
            self.assertEqual(verdicts[text], "does not hold", text)

    def test_what_noise_hides_is_neither_there_nor_absent(self):
        document = self.document_of_the_paper()
        for one in document["series"]:
            if one["tenants"]:
                for turn, times in zip(one["runs"], (0.6, 1.5, 0.7, 1.4, 1.1, 0.9)):
                    turn["mpps"] *= times
        verdicts = self.verdicts(document)
        self.assertEqual(verdicts["tenants that load a disk cost nothing"], "cannot be told")
        self.assertEqual(verdicts["tenants that load the network cost throughput of small packets"], "is not seen")
        few = self.verdicts(self.document_of_the_paper(rounds=1))
        self.assertEqual(few["and cost XDP nothing then"], "cannot be asked")

    def test_a_driver_of_its_own_counts_as_dpdk_where_there_is_one(self):
        document = self.document_of_the_paper()
        document["series"] += [json.loads(json.dumps(one)) | {"subject": "dpdk-pmd"} for one in document["series"]
                               if one["subject"] == "dpdk"]
        for one in document["series"]:
            if one["subject"] == "dpdk":
                one["runs"] = [turn | {"mpps": 1.0} for turn in one["runs"]]
        found = {one["finding"]: one for one in tenants.analyse(document)["findings"]}
        first = found["with small packets DPDK drops more than XDP"]
        self.assertEqual(first["verdict"], "holds")
        self.assertNotIn("sockets", first["why"])

    def test_a_burden_is_compared_with_none_not_with_another_one(self):
        document = tenants_document(lambda subject, size, checksums, burden, count: 10 - (0.1 * count if burden else 0) + (
            0 if burden == "none" else 0.01 if burden == "cpu" else 0), subjects=(("xdp", (1,)),))
        row = next(one for one in tenants.correlations(document) if (one["factor"], one["metric"]) == ("cpu", "mpps"))
        # Each level is lower than the one before; tenants of the network, which are none of the CPU, are left out.
        self.assertEqual(row["runs"], 4 * 4)
        self.assertLess(row["rho"], -0.9)

    def test_a_run_that_noise_makes_worthless_is_called_so(self):
        document = tenants_document(lambda *_: 1.0)
        for one in document["series"]:
            if one["again"]:
                for turn in one["runs"]:
                    turn["mpps"] *= 1.5
        analysis = tenants.analyse(document)
        self.assertTrue(analysis["noise"]["worthless"])
        self.assertIn("worth nothing", " ".join(tenants.sentences(analysis)))

    def test_what_was_not_measured_is_shown_with_the_reason(self):
        document = tenants_document(neighbours_cost_linux)
        for one in document["series"]:
            if one["subject"] == "dpdk":
                one.update({"not_measured": "'cc' is not installed", "runs": []})
        analysis = tenants.analyse(document)
        self.assertIn("'cc' is not installed", tenants.text(document, analysis))
        verdicts = {one["finding"]: one["verdict"] for one in analysis["findings"]}
        self.assertEqual(verdicts["with small packets DPDK drops more than XDP"], "cannot be asked")


class Interrupted(unittest.TestCase):
    """Whenever a run is interrupted, what was measured can be told, in files as well."""

    def check(self, study, whole, series_of):
        all_runs = [(one, turn) for one in series_of(whole) for turn in one["runs"]]
        for measured in [*range(5), *range(5, len(all_runs), 11)]:
            document = json.loads(json.dumps(whole)) | {"complete": False}
            left = measured
            # As they are measured: round by round, in any order.
            for one in sorted(series_of(document), key=lambda one: sum(json.dumps(one, sort_keys=True).encode()) % 7):
                kept = min(left, 1 + measured // len(series_of(document)), len(one["runs"]))
                one["runs"] = one["runs"][:kept]
                left -= kept
            analysis = study.analyse(document)
            json.dumps(analysis, allow_nan=False)
            self.assertIsInstance(study.text(document, analysis), str)

    def test_delays(self):
        self.check(delays, delays_document(as_in_the_paper, intervals=(0.005, 0)),
                   lambda document: document["series"] + document["yardsticks"])

    def test_tenants(self):
        self.check(tenants, tenants_document(neighbours_cost_linux), lambda document: document["series"])


class Page(unittest.TestCase):
    def test_both_studies_have_their_findings_and_pictures_on_it(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, document in (("delays", delays_document(as_in_the_paper, intervals=(0.005, 0))),
                                   ("tenants", tenants_document(neighbours_cost_linux, sizes=(64, 1500)) | {
                                       "machine_under_test": MACHINE | {"cpus": 48}})):
                (folder / f"{name}.json").write_text(json.dumps(document | {"analysis": None}))
            page = folder / "page.html"
            done = subprocess.run([BENCH, "report", folder / "delays.json", folder / "tenants.json", "--output", page],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = page.read_text()
            # Densities at two intervals, what explains; throughput and loss of two sizes, heat maps.
            self.assertEqual(text.count("<svg"), 3 + 5)
            for words in ("poll() in the receiver always makes it worse", "Clusters at 5 ms", "tna suffers less",
                          "Missing: zero_copy: not here.",
                          "Another machine drops and has the tenants: kernel 6.12, 48 x a CPU."):
                self.assertIn(words, text)
            again = folder / "again.html"
            subprocess.run([BENCH, "report", folder / "delays.json", folder / "tenants.json", "--output", again], check=True,
                           capture_output=True)
            self.assertEqual(text, again.read_text(), "the same files give the same page")

    def test_a_damaged_file_is_refused_in_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            document = delays_document(as_in_the_paper)
            del document["missing"]
            file.write_text(json.dumps(document))
            done = subprocess.run([BENCH, "report", file, "--output", file.with_suffix(".html")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("it is damaged", done.stderr)


if __name__ == "__main__":
    unittest.main()
