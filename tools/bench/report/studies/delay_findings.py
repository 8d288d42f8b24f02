# SPDX-License-Identifier: Apache-2.0
"""The findings of the paper on delays in AF_XDP, one by one, and what is to be said of them here."""

import numpy
from scipy import stats

from studies.words import micro

# The paper: 6.5 µs under load to 13.4 µs at a packet each second.
_SHORT = 10_000
_TRACING = 5000


def at(interval):
    return "without interval" if interval == 0 else f"at {interval * 1000:g} ms"


def whole(runs):
    return [run for run in runs if run.get("not_measured") is None and run.get("mean_ns") is not None]


def _effect(document, name):
    """By what medians are multiplied where a setting is on, all else being the same; with a p value (Wilcoxon)."""
    found = {}
    for one in document["series"]:
        runs = whole(one["runs"])
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
    verdict = holds(effect)
    return _finding(text, verdict if isinstance(verdict, str) else "holds" if verdict else "does not hold",
                    f"on, it multiplies the median by {effect['times']:.2f}, and is worse in {effect['worse']} of "
                    f"{effect['pairs']} pairs{significant}")


def _unimportant(effect):
    if abs(numpy.log(effect["times"])) < numpy.log(1.1):
        return True
    # That an effect may be an accident does not say that there is none.
    return False if effect["p"] is not None and effect["p"] < 0.05 else "cannot be told"


def of(document, intervals, factors):
    """The paper's, one by one."""
    found = [_of_setting(document, factors, "poll_receiver", "poll() in the receiver always makes it worse",
                         lambda effect: effect["worse"] == effect["pairs"]),
             _of_setting(document, factors, "deep_idle", "C-states have little to no effect", _unimportant),
             _of_setting(document, factors, "rx_coalescing", "coalescing of what comes has no effect", _unimportant),
             _of_setting(document, factors, "tx_coalescing", "coalescing of what goes has no effect", _unimportant)]
    found += _busy(document, intervals, factors)
    compared = [(row["median_ns"], one["yardsticks"]["ping"]["median_ns"]) for one in intervals
                for row in one["rows"][:1] if "mean_ns" in row and one["yardsticks"].get("ping")]
    text = "the best settings are quicker than the system's ping"
    if compared:
        quicker = sum(own < ping for own, ping in compared)
        found.append(_finding(text, "holds" if quicker == len(compared) else "does not hold",
                              "; ".join(f"{micro(own)} and {micro(ping)}" for own, ping in compared)))
    else:
        found.append(_finding(text, "cannot be asked", "ping was not measured"))
    found += _short(intervals)
    near = sum("near the interval" in row["flags"] for one in intervals for row in one["rows"])
    text = "some settings answer a probe only when the next one comes"
    if "zero_copy" not in factors:
        found.append(_finding(text, "cannot be asked", "it was seen with zero-copy, which is missing here"))
    else:
        found.append(_finding(text, "holds" if near else "does not hold", f"{near} configurations are near the interval"))
    best = {one["interval"]: one["rows"][0] for one in intervals if one["rows"] and "mean_ns" in one["rows"][0]}
    timed = sorted((interval for interval in best if interval), reverse=True)
    text = "the shorter the interval, the shorter the delays"
    if len(timed) > 1 or (timed and 0 in best):
        order = timed + ([0] if 0 in best else [])
        means = [best[interval]["mean_ns"] for interval in order]
        found.append(_finding(text, "holds" if means == sorted(means, reverse=True) else "does not hold",
                              ", ".join(f"{micro(mean)} {at(interval)}" for interval, mean in zip(order, means))))
    else:
        found.append(_finding(text, "cannot be asked", "there was only one interval"))
    found.append(_finding("without an interval probes wait in buffers, and delays grow", "cannot be asked",
                          "without an interval, a probe follows the answer to the one before"))
    found.append(_stable(intervals))
    return found


def _busy(document, intervals, factors):
    """What is best and what is worst, at all intervals."""
    asked = (("best with busy polling on and need_wakeup off", 0, lambda one: one["busy_poll"] and not one["need_wakeup"]),
             ("worst with busy polling and poll() in the receiver", -1, lambda one: one["busy_poll"] and one["poll_receiver"]))
    found = []
    for text, place, so in asked:
        if "busy_poll" not in factors:
            reason = next((one["reason"] for one in document["missing"] if one["setting"] == "busy_poll"), "not measured")
            found.append(_finding(text, "cannot be asked", reason))
            continue
        measured = [[row for row in one["rows"] if "mean_ns" in row] for one in intervals]
        right = [so(rows[place]["settings"]) for rows in measured if rows]
        found.append(_finding(text, "holds" if right and all(right) else "does not hold",
                              f"so it is at {sum(right)} of {len(right)} intervals"))
    return found


def _short(intervals):
    """Headlines: how quick it can be, and what measuring costs."""
    best = [(row["median_ns"], one["interval"]) for one in intervals for row in one["rows"][:1]
            if "mean_ns" in row and one["interval"]]
    loops = [one["yardsticks"]["loop"]["median_ns"] for one in intervals if one["yardsticks"].get("loop")]
    found = []
    text = "with the right settings it takes less than 10 µs there and back"
    found.append(_finding(text, "holds" if min(best)[0] < _SHORT else "does not hold",
                          f"{micro(min(best)[0])} {at(min(best)[1])}") if best else
                 _finding(text, "cannot be asked", "there was no interval"))
    text = "what measures costs 5 to 10 µs itself"
    found.append(_finding(text, "holds" if max(loops) >= _TRACING else "does not hold",
                          f"up to {micro(max(loops))}: a probe carries its time, nothing is traced") if loops else
                 _finding(text, "cannot be asked", "the prober alone was not measured"))
    return found


def _stable(intervals):
    text = "what is best at one interval is so at others"
    means = [{str(row["settings"]): row["mean_ns"] for row in one["rows"] if "mean_ns" in row} for one in intervals]
    correlations = []
    for place, one in enumerate(means):
        for other in means[place + 1:]:
            keys = sorted(set(one) & set(other))
            if len(keys) > 3:
                correlations.append(float(stats.spearmanr([one[key] for key in keys],
                                                          [other[key] for key in keys]).statistic))
    correlations = [one for one in correlations if not numpy.isnan(one)]
    if not correlations:
        return _finding(text, "cannot be asked", "there was only one interval")
    return _finding(text, "holds" if min(correlations) > 0.5 else "does not hold",
                    f"rank correlations {', '.join(f'{one:.2f}' for one in correlations)}")
