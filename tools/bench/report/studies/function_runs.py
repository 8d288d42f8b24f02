# SPDX-License-Identifier: Apache-2.0
"""What runs of `tna-bench functions` have found, and its words."""

import math

import numpy

from studies.observed import interval

RATES = {"full": "full offer", "rfc2544": "without loss"}
CLASSES = {"returned": "sent back", "dropped": "dropped", "local": "left to Linux"}
SIZES = {"checksum": "times", "lookup": "lines of 64 bytes", "firewall": "connections", "chain": "% dropped"}
WORKLOADS = ("macswap", "checksum", "lookup", "firewall", "chain")


def whole(series):
    return [run for run in series["runs"] if run.get("not_measured") is None]


def why_not(series):
    return series["not_measured"] or next((run["not_measured"] for run in series["runs"] if run["not_measured"]),
                                          "interrupted" if not series["runs"] else None)


def case_of(series):
    return series["workload"], series["class"], series["size"], series["cpus"]


def name_of(workload, which, size, cpus):
    much = f" {size:,} {SIZES[workload]}" if workload in SIZES else ""
    return f"{workload}{much}, {CLASSES[which]}, {cpus} processor{'s' if cpus > 1 else ''}"


def values(series, rate, metric="mpps"):
    """By round; None where it was not measured."""
    return [run[rate][metric] if run.get("not_measured") is None and run[rate] is not None else None
            for run in series["runs"]]


def present(list_):
    return [one for one in list_ if one is not None]


class Study:
    """One document, at the rate that the paper looks at, if it was measured."""

    def __init__(self, document):
        self.document = document
        self.rate = "rfc2544" if "rfc2544" in document["options"]["rates"] else "full"
        self.cpus = min(document["options"]["cpus"])

    def series(self, contestant, workload, which, size=0):
        return next((one for one in self.document["series"] if one["contestant"] == contestant
                     and case_of(one) == (workload, which, size, self.cpus)), None)

    def rates(self, contestant, workload, which, size=0, rate=None):
        found = self.series(contestant, workload, which, size)
        return [] if found is None else values(found, rate or self.rate)

    def median(self, *case):
        found = present(self.rates(*case))
        return float(numpy.median(found)) if found else None

    def ratios(self, one, other, *case, rate=None):
        """Of two contestants, round by round."""
        pairs = zip(self.rates(one, *case, rate=rate), self.rates(other, *case, rate=rate))
        return [first / second for first, second in pairs if first is not None and second]

    def user(self, *case):
        """Who is in user space, at its best: as in the paper where that can be asked."""
        able = [(self.median(name, *case), name) for name in ("poll", "busy") if self.median(name, *case)]
        if self.median("libxdp-sysc", *case):
            return "libxdp-sysc"
        return max(able)[1] if able else None

    def sizes(self, workload, which):
        return sorted({one["size"] for one in self.document["series"] if one["workload"] == workload
                       and one["class"] == which and one["cpus"] == self.cpus and whole(one)})

    def changes(self, workload, which, of=lambda ratio: ratio):
        """By how much the ratio of user space to XDP is another one at the largest size than at the smallest, round by
        round; with both ratios."""
        sizes = self.sizes(workload, which)
        user = self.user(workload, which, sizes[-1]) if len(sizes) > 1 else None
        if user is None:
            return None
        ends = [self.ratios(user, "xdp", workload, which, size) for size in (sizes[0], sizes[-1])]
        if not all(ends):
            return None
        return user, sizes, ends, [of(last) / of(first) for first, last in zip(*ends) if first and last]


def times_text(ratios):
    if not ratios:
        return "-"
    within = interval(ratios)
    text = f"× {numpy.median(ratios):.2f}"
    return text if within is None else f"{text} ({within[0]:.2f} to {within[1]:.2f})"


def distance(ratio):
    """How far a ratio is from 1, whichever is larger."""
    return math.exp(abs(math.log(ratio)))
