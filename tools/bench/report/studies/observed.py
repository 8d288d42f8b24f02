# SPDX-License-Identifier: Apache-2.0
"""What runs of `tna-bench tenants` have found, and its words."""

import numpy

_SEED = 1
_RESAMPLES = 2000
SIGNIFICANT = 0.05
METRICS = {"mpps": "throughput", "loss": "loss"}
FACTORS = {"checksums": "checksums", "tenants": "tenants", "cpu": "tenants that load CPUs",
           "disk": "tenants that load a disk", "network": "tenants that load the network"}
BURDENS = ("cpu", "disk", "network")
WORDS = {"xdp": "XDP", "dpdk": "DPDK by AF_XDP", "dpdk-packet": "DPDK by packet sockets",
         "dpdk-pmd": "DPDK by its own driver", "linux": "Linux",
         "bridge": "a bridge of plain Linux", "bridge-tna": "a bridge with tnad", "router": "a router of plain Linux",
         "router-tna": "a router with tnad"}


def whole(series):
    return [run for run in series["runs"] if run.get("not_measured") is None]


def case_of(series):
    return series["subject"], series["frame_size"], series["checksums"]


def rounds_of(document, metric, case, burden="none", tenants=0):
    """What a round found; without tenants, the mean of both times."""
    series = [[run[metric] for run in whole(one)] for one in document["series"]
              if case_of(one) == case and one["burden"] == burden and one["tenants"] == tenants]
    return [float(numpy.mean(values)) for values in zip(*(one for one in series if one))]


def kept(document, subject, size, checksums, burden, tenants):
    """The part of its throughput that a subject keeps beside tenants; the runs' ratios, round by round."""
    case = subject, size, checksums
    alone, beside = rounds_of(document, "mpps", case), rounds_of(document, "mpps", case, burden, tenants)
    return [one / other for one, other in zip(beside, alone) if other > 0]


def interval(values, statistic=numpy.median):
    """A 95 % interval by resampling; None for too few."""
    if len(values) < 3:
        return None
    random = numpy.random.default_rng(_SEED)
    drawn = statistic(random.choice(values, (_RESAMPLES, len(values))), axis=1)
    low, high = numpy.percentile(drawn, [2.5, 97.5])
    return [float(low), float(high)]
