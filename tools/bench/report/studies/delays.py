# SPDX-License-Identifier: Apache-2.0
"""Statistics of `tna-bench delays`: clusters, what explains most, flags, and what to use."""

import warnings

import numpy
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from studies import anova
from studies import delay_findings as findings
from studies.delay_findings import at, whole
from studies.words import micro, table

_SEED = 1
_STARTS = 20
_MOST_CLUSTERS = 8
_FEATURES = ("mean_ns", "median_ns", "sd_ns", "q1_ns", "q3_ns")
_TOLD = _FEATURES + ("min_ns", "max_ns")
WORDS = {"zero_copy": "zero-copy", "busy_poll": "busy polling", "need_wakeup": "need_wakeup",
          "poll_forwarder": "poll() in the forwarder", "poll_receiver": "poll() in the receiver",
          "deep_idle": "deep C-states", "rx_coalescing": "coalescing of what comes",
          "tx_coalescing": "coalescing of what goes", "interval": "the interval"}


def _average(runs):
    """Of each figure, over runs, as the paper has it; None for none."""
    runs = whole(runs)
    if not runs:
        return None
    return {name: float(numpy.mean([run[name] for run in runs])) for name in _TOLD}


def factors_of(document):
    """The settings that differ."""
    series = [one for one in document["series"] if not one["again"]]
    return [name for name in (series[0]["settings"] if series else {})
            if len({one["settings"][name] for one in series}) > 1]


def words_of(settings, factors):
    return ", ".join(f"{WORDS[name]} {'on' if settings[name] else 'off'}" for name in factors) or "as usual"


def cluster(rows, wanted=0):
    """A number for each row of features, by k-means on what is scaled; 0 has the lowest mean. The number of clusters
    is the one with the best silhouette, unless somebody wants another."""
    points = numpy.array([[row[name] for name in _FEATURES] for row in rows])
    different = len(numpy.unique(points, axis=0))
    if different < 3:
        return [0] * len(rows), None
    scaled = StandardScaler().fit_transform(points)
    most = min(different, len(rows) - 1)
    choices = [min(wanted, most)] if wanted > 1 else range(2, min(_MOST_CLUSTERS, most) + 1)
    best = None
    for count in choices:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = KMeans(count, n_init=_STARTS, random_state=_SEED).fit_predict(scaled)
        if len(set(labels)) < 2:
            continue
        score = float(silhouette_score(scaled, labels))
        if best is None or score > best[1]:
            best = (labels, score)
    if best is None:
        return [0] * len(rows), None
    labels, score = best
    order = sorted(set(labels), key=lambda one: numpy.mean([row["mean_ns"] for row, own in zip(rows, labels)
                                                            if own == one]))
    return [order.index(own) for own in labels], score


def shared(settings, factors):
    """What all have in common, of what differs at all."""
    return {name: settings[0][name] for name in factors if len({one[name] for one in settings}) == 1}


def _flags(series, average, ping):
    """What a reader must know of a configuration; nothing is left out because of it."""
    flags = []
    runs = whole(series["runs"])
    if any(run["lost"] for run in runs):
        flags.append("lost")
    if any(run["wrong"] for run in runs):
        flags.append("changed")
    if len(runs) < len(series["runs"]):
        flags.append("not measured")
    if average and series["interval"] and average["median_ns"] > 0.5e9 * series["interval"]:
        flags.append("near the interval")
    if average and ping and average["median_ns"] > ping["median_ns"]:
        flags.append("above ping")
    return flags


def _noise(document):
    """How far the same configuration is from itself, in another run of the same round; and how far configurations are
    from each other."""
    pairs, spans = [], []
    for again in (one for one in document["series"] if one["again"]):
        usual = next((one for one in document["series"] if not one["again"] and one["interval"] == again["interval"]
                      and one["settings"] == again["settings"]), None)
        if usual is None:
            continue
        pairs += [abs(numpy.log(one["median_ns"] / other["median_ns"]))
                  for one, other in zip(whole(usual["runs"]), whole(again["runs"]))
                  if min(one["median_ns"], other["median_ns"]) > 0]
        medians = [numpy.median([run["median_ns"] for run in whole(one["runs"])]) for one in document["series"]
                   if one["interval"] == again["interval"] and not one["again"] and whole(one["runs"])]
        if medians and min(medians) > 0:
            spans.append(numpy.log(numpy.median(medians) / min(medians)))
    if not pairs or not spans:
        return None
    itself, others = float(numpy.expm1(numpy.median(pairs))), float(numpy.expm1(numpy.median(spans)))
    return {"itself": itself, "others": others, "pairs": len(pairs), "worthless": itself >= others}


def _interval(document, interval, factors, wanted):
    """Everything about one interval."""
    series = [one for one in document["series"] if one["interval"] == interval and not one["again"]]
    yard = {one["name"]: _average(one["runs"]) for one in document["yardsticks"] if one["interval"] == interval}
    rows = []
    for one in series:
        average = _average(one["runs"])
        rows.append({"settings": one["settings"], "flags": _flags(one, average, yard.get("ping"))} | (average or {}))
    counted = [row for row in rows if "mean_ns" in row]
    labels, score = cluster(counted, wanted) if counted else ([], None)
    for row, label in zip(counted, labels):
        row["cluster"] = label
    clusters = []
    for label in sorted(set(labels)):
        members = [row for row in counted if row["cluster"] == label]
        clusters.append({"cluster": label, "members": len(members),
                         "mean_ns": float(numpy.mean([row["mean_ns"] for row in members])),
                         "sd_ns": float(numpy.mean([row["sd_ns"] for row in members])),
                         "always": shared([row["settings"] for row in members], factors)})
    return {"interval": interval, "rows": sorted(rows, key=lambda row: row.get("mean_ns", numpy.inf)),
            "clusters": clusters, "silhouette": score, "yardsticks": yard}


def _explained(document, factors):
    runs = [(one, run) for one in document["series"] if not one["again"] for run in whole(one["runs"])
            if run["median_ns"] > 0]
    columns = {name: [str(one["settings"][name]) for one, _ in runs] for name in factors}
    columns["interval"] = [str(one["interval"]) for one, _ in runs]
    return anova.variance(columns, numpy.log([run["median_ns"] for _, run in runs]))


def _recommended(document, factors, noise):
    """The settings whose delays are shortest over all intervals. Of those that the noise does not tell from the best,
    the ones that differ least from the usual."""
    means = {}
    for one in document["series"]:
        average = None if one["again"] else _average(one["runs"])
        if average and average["median_ns"] > 0:
            means.setdefault(tuple(sorted(one["settings"].items())), []).append(average["median_ns"])
    full = {key: float(numpy.exp(numpy.mean(numpy.log(own)))) for key, own in means.items()
            if len(own) == len(document["options"]["intervals"])}
    if not full:
        return None
    usual = next((one["settings"] for one in document["series"] if one["again"]), {})
    limit = min(full.values()) * (1 + (noise["itself"] if noise else 0))
    alike = [key for key in full if full[key] <= limit]
    settings = dict(min(alike, key=lambda key: (sum(usual.get(name) != value for name, value in key), full[key])))
    line = f'mode = "{"zero-copy" if settings["zero_copy"] else "copy"}"'
    return {"settings": settings, "line": line, "others": _others(settings, factors), "alike": len(alike), "decided": factors}


def _others(settings, factors):
    """What is no setting of a function's declaration: the function's own, the device's, the machine's."""
    lines = []
    if "poll_forwarder" in factors:
        lines.append("the function sleeps until there is something (TNA_FUNCTION_POLL)" if settings["poll_forwarder"] else
                     "the function never sleeps (TNA_FUNCTION_BUSY)")
    if "poll_receiver" in factors:
        lines.append("who it answers " + ("may sleep in poll()" if settings["poll_receiver"] else "never sleeps either"))
    for name, word in (("rx_coalescing", "rx"), ("tx_coalescing", "tx")):
        if name in factors:
            lines.append(f"ethtool -C DEVICE {word}-usecs 0" if not settings[name] else f"{word} coalescing as it is")
    if "deep_idle" in factors:
        lines.append("C-states as they are" if settings["deep_idle"] else "a process that keeps 0 in /dev/cpu_dma_latency")
    # tnad sets these itself.
    if settings["busy_poll"]:
        lines.append("busy polling, which tnad has no setting for: sockets of one's own")
    if "need_wakeup" in factors and not settings["need_wakeup"]:
        lines.append("no need_wakeup, which tnad always sets: sockets of one's own")
    return lines


def analyse(document):
    factors = factors_of(document)
    intervals = [_interval(document, interval, factors, document["options"]["clusters"])
                 for interval in document["options"]["intervals"]] if document["series"] else []
    noise = _noise(document)
    return {"factors": factors, "intervals": intervals, "explained": _explained(document, factors),
            "noise": noise, "recommended": _recommended(document, factors, noise),
            "findings": findings.of(document, intervals, factors)}


def sentences(analysis):
    """What was found, for people."""
    lines = []
    noise = analysis["noise"]
    if noise:
        lines.append(f"The same configuration differs from itself by {noise['itself']:.0%} between runs, the middle "
                     f"configuration from the best by {noise['others']:.0%}"
                     + (": too noisy, this run is worth nothing." if noise["worthless"] else "."))
    for one in analysis["intervals"]:
        for name, words in (("loop", "The prober itself takes"), ("xdp_echo", "An echo by XDP_TX takes"),
                            ("udp_echo", "An echo by ordinary sockets takes"), ("ping", "The system's ping takes")):
            if one["yardsticks"].get(name):
                lines.append(f"{words} {micro(one['yardsticks'][name]['median_ns'])} {at(one['interval'])}.")
    if analysis["explained"]:
        parts = [f"{' with '.join(WORDS[name] for name in row['term'])} {row['share']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
                 for row in analysis["explained"][:4]]
        lines.append(f"Of the differences explain: {', '.join(parts)} (analysis of variance; 95 % intervals).")
    lines += [f"{one['finding']}: {one['verdict']} ({one['why']})." for one in analysis["findings"]]
    if analysis["recommended"]:
        lines.append(f"For this machine and this interface, declare functions (tna-functions.d) with: "
                     f"{analysis['recommended']['line']}")
        if analysis["recommended"].get("others"):  # files of older versions have none
            lines.append(f"Beside it: {'; '.join(analysis['recommended']['others'])}.")
        if analysis["recommended"]["alike"] > 1:
            lines.append(f"({analysis['recommended']['alike']} configurations are as good within the noise; of them, this "
                         "one is the closest to what is usual.)")
    return lines


def cluster_rows(one):
    return [[str(row["cluster"]), str(row["members"]), micro(row["mean_ns"]), micro(row["sd_ns"]),
             words_of(row["always"], row["always"]) if row["always"] else "any"] for row in one["clusters"]]


def configuration_rows(one, factors, most=None):
    rows = []
    for row in one["rows"][:most]:
        if "mean_ns" not in row:
            rows.append([words_of(row["settings"], factors), "", *[""] * 5, ", ".join(row["flags"])])
            continue
        rows.append([words_of(row["settings"], factors), str(row["cluster"]), *(micro(row[name]) for name in (
            "mean_ns", "median_ns", "sd_ns", "q1_ns", "q3_ns")), ", ".join(row["flags"])])
    return rows


def text(document, analysis):
    parts = []
    for one in analysis["intervals"]:
        parts.append(f"\n{at(one['interval']).capitalize()}, the best of {len(one['rows'])}:\n" +
                     table(["configuration", "cluster", "mean", "median", "SD", "Q1", "Q3", ""],
                           configuration_rows(one, analysis["factors"], 8)))
        parts.append("\nClusters:\n" + table(["", "members", "mean", "SD", "always"], cluster_rows(one)))
    return "\n".join(parts) + "\n\n" + "\n".join(sentences(analysis)) + "\n"
