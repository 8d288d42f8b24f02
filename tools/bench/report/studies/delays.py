# SPDX-License-Identifier: Apache-2.0
"""Statistics of `tna-bench delays`: clusters, what explains most, flags, and what to use."""

import warnings

import numpy
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from studies import anova
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


def at(interval):
    return "without interval" if interval == 0 else f"at {interval * 1000:g} ms"


def _whole(runs):
    return [run for run in runs if run.get("not_measured") is None and run.get("mean_ns") is not None]


def _average(runs):
    """Of each figure, over runs, as the paper has it; None for none."""
    runs = _whole(runs)
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
    runs = _whole(series["runs"])
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
                  for one, other in zip(_whole(usual["runs"]), _whole(again["runs"]))
                  if min(one["median_ns"], other["median_ns"]) > 0]
        medians = [numpy.median([run["median_ns"] for run in _whole(one["runs"])]) for one in document["series"]
                   if one["interval"] == again["interval"] and not one["again"] and _whole(one["runs"])]
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
    runs = [(one, run) for one in document["series"] if not one["again"] for run in _whole(one["runs"])
            if run["median_ns"] > 0]
    columns = {name: [str(one["settings"][name]) for one, _ in runs] for name in factors}
    columns["interval"] = [str(one["interval"]) for one, _ in runs]
    return anova.variance(columns, numpy.log([run["median_ns"] for _, run in runs]))


def _effect(document, name):
    """By what medians are multiplied where a setting is on, all else being the same; with a p value (Wilcoxon)."""
    found = {}
    for one in document["series"]:
        runs = _whole(one["runs"])
        if not one["again"] and runs:
            rest = tuple(sorted((key, value) for key, value in one["settings"].items() if key != name))
            found.setdefault((one["interval"], rest), {})[one["settings"][name]] = numpy.median(
                [run["median_ns"] for run in runs])
    logs = [numpy.log(pair[True] / pair[False]) for pair in found.values() if len(pair) == 2 and min(pair.values()) > 0]
    if not logs:
        return None
    p = float(stats.wilcoxon(logs).pvalue) if len(logs) > 5 and any(logs) else None
    return {"times": float(numpy.exp(numpy.median(logs))), "worse": sum(one > 0 for one in logs), "pairs": len(logs), "p": p}


def _finding(text, verdict, why):
    return {"finding": text, "verdict": verdict, "why": why}


def _of_setting(document, factors, name, text, holds):
    """A finding about one setting, if it can be asked."""
    reason = next((one["reason"] for one in document["missing"] if one["setting"] == name), None)
    effect = _effect(document, name) if name in factors else None
    if effect is None:
        return _finding(text, "cannot be asked", reason or "too little was measured")
    significant = "" if effect["p"] is None else f", p = {effect['p']:.2g}"
    return _finding(text, "holds" if holds(effect) else "does not hold",
                    f"on, it multiplies the median by {effect['times']:.2f}, and is worse in {effect['worse']} of "
                    f"{effect['pairs']} pairs{significant}")


def _unimportant(effect):
    return abs(numpy.log(effect["times"])) < numpy.log(1.1) or (effect["p"] is not None and effect["p"] > 0.05)


def _findings(document, intervals, factors):
    """The paper's, one by one."""
    found = [_of_setting(document, factors, "poll_receiver", "poll() in the receiver always makes it worse",
                         lambda effect: effect["worse"] == effect["pairs"]),
             _of_setting(document, factors, "deep_idle", "C-states have little to no effect", _unimportant),
             _of_setting(document, factors, "rx_coalescing", "coalescing of what comes has no effect", _unimportant),
             _of_setting(document, factors, "tx_coalescing", "coalescing of what goes has no effect", _unimportant)]
    text = "best with busy polling on and need_wakeup off"
    best = {one["interval"]: one["rows"][0] for one in intervals if one["rows"] and "mean_ns" in one["rows"][0]}
    if "busy_poll" not in factors:
        reason = next((one["reason"] for one in document["missing"] if one["setting"] == "busy_poll"), "not measured")
        found.append(_finding(text, "cannot be asked", reason))
    else:
        right = [row["settings"]["busy_poll"] and not row["settings"]["need_wakeup"] for row in best.values()]
        found.append(_finding(text, "holds" if right and all(right) else "does not hold",
                              f"so it is at {sum(right)} of {len(right)} intervals"))
    compared = [(row["median_ns"], one["yardsticks"]["ping"]["median_ns"]) for one in intervals
                for row in one["rows"][:1] if "mean_ns" in row and one["yardsticks"].get("ping")]
    text = "the best settings are quicker than the system's ping"
    if compared:
        quicker = sum(own < ping for own, ping in compared)
        found.append(_finding(text, "holds" if quicker == len(compared) else "does not hold",
                              "; ".join(f"{micro(own)} and {micro(ping)}" for own, ping in compared)))
    else:
        found.append(_finding(text, "cannot be asked", "ping was not measured"))
    near = sum("near the interval" in row["flags"] for one in intervals for row in one["rows"])
    text = "some settings answer a probe only when the next one comes"
    if "zero_copy" not in factors:
        found.append(_finding(text, "cannot be asked", "it was seen with zero-copy, which is missing here"))
    else:
        found.append(_finding(text, "holds" if near else "does not hold", f"{near} configurations are near the interval"))
    timed = sorted((interval for interval in best if interval), reverse=True)
    text = "the shorter the interval, the shorter the delays"
    if len(timed) > 1 or (timed and 0 in best):
        order = timed + ([0] if 0 in best else [])
        means = [best[interval]["mean_ns"] for interval in order]
        found.append(_finding(text, "holds" if means == sorted(means, reverse=True) else "does not hold",
                              ", ".join(f"{micro(mean)} {at(interval)}" for interval, mean in zip(order, means))))
    else:
        found.append(_finding(text, "cannot be asked", "there was only one interval"))
    found.append(_stable(intervals))
    return found


def _stable(intervals):
    text = "what is best at one interval is so at others"
    whole = [{str(row["settings"]): row["mean_ns"] for row in one["rows"] if "mean_ns" in row} for one in intervals]
    correlations = []
    for place, one in enumerate(whole):
        for other in whole[place + 1:]:
            keys = sorted(set(one) & set(other))
            if len(keys) > 3:
                correlations.append(float(stats.spearmanr([one[key] for key in keys],
                                                          [other[key] for key in keys]).statistic))
    correlations = [one for one in correlations if not numpy.isnan(one)]
    if not correlations:
        return _finding(text, "cannot be asked", "there was only one interval")
    return _finding(text, "holds" if min(correlations) > 0.5 else "does not hold",
                    f"rank correlations {', '.join(f'{one:.2f}' for one in correlations)}")


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
    line = ", ".join(f"{name} = {str(settings[name]).lower()}" for name in WORDS if name in settings)
    return {"settings": settings, "line": f"af_xdp = {{ {line} }}", "alike": len(alike), "decided": factors}


def analyse(document):
    factors = factors_of(document)
    intervals = [_interval(document, interval, factors, document["options"]["clusters"])
                 for interval in document["options"]["intervals"]] if document["series"] else []
    noise = _noise(document)
    return {"factors": factors, "intervals": intervals, "explained": _explained(document, factors),
            "noise": noise, "recommended": _recommended(document, factors, noise),
            "findings": _findings(document, intervals, factors)}


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
        lines.append(f"For this machine and this interface, use: {analysis['recommended']['line']}")
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
