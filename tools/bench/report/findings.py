# SPDX-License-Identifier: Apache-2.0
"""What a result says, in sentences, and what makes it doubtful."""

import numpy

# A fixed seed: the same file gives the same page.
_SEED = 1
_RESAMPLES = 2000


def load_of(series):
    """"200 stations, 1 CPU" """
    stations, cpus = series["stations"], series["cpus"]
    return f"{stations:,} station{'s' if stations != 1 else ''}, {cpus} CPU{'s' if cpus != 1 else ''}"


def confidence(values):
    """95 % confidence interval of the median, by resampling; None for too few values."""
    if len(values) < 5:
        return None
    random = numpy.random.default_rng(_SEED)
    medians = numpy.median(random.choice(values, (_RESAMPLES, len(values))), axis=1)
    low, high = numpy.percentile(medians, [2.5, 97.5])
    return float(low), float(high)


def ratios(result, series, base):
    """Of the rates of the same round."""
    other = next(
        (
            one
            for one in result.series
            if one["contender"] == base and one["stations"] == series["stations"] and one["cpus"] == series["cpus"]
        ),
        None,
    )
    if other is None:
        return []
    pairs = zip(series["rounds"], other["rounds"])
    return [mine["mpps"] / theirs["mpps"] for mine, theirs in pairs if theirs["mpps"] > 0]


def _ratio(values):
    interval = confidence(values)
    text = f"{numpy.median(values):.2f}"
    return text if interval is None else f"{text} (95 %: {interval[0]:.2f} to {interval[1]:.2f})"


def of_throughput(result):
    sentences = []
    for series in result.series:
        if not series["contender"].startswith("tna") or not series["rounds"]:
            continue
        parts = []
        for base, words in (("linux", "times plain Linux"), ("ceiling", "of the ceiling")):
            values = ratios(result, series, base)
            if values:
                parts.append(f"{_ratio(values)} {words}")
        if parts:
            sentences.append(f"With {load_of(series)}, {series['contender']} carries {' and '.join(parts)}.")
    return sentences


def _time(nanoseconds):
    return f"{nanoseconds / 1e3:.2f} µs" if nanoseconds < 1e6 else f"{nanoseconds / 1e6:.1f} ms"


def of_latency(result):
    sentences = []
    loads = sorted({series["load_percent"] for series in result.series})
    for load in loads:
        medians = [
            f"{series['contender']} {_time(series['p50_ns'])}"
            for series in result.series
            if series["load_percent"] == load and series["sent"]
        ]
        if medians:
            sentences.append(f"At {load} % of what {result.document['slowest']} carries, half of all frames take no "
                             f"longer than: {', '.join(medians)}.")
    return sentences


def of_kill(result):
    rounds = result.document.get("rounds", [])
    lost = sum(one["with_kill"]["lost"] for one in rounds)
    usual = sum(one["without_kill"]["lost"] for one in rounds)
    return [f"{lost} frames were lost in {len(rounds)} kills under load, and {usual} under the same load without a kill."]


def of_reaction(result):
    times = result.document["reaction"]
    start = result.document["start_up"]
    return [
        f"A change was in effect after {times['median_s'] * 1000:.2f} ms (99 %: {times['p99_s'] * 1000:.2f} ms); "
        f"start-up with {result.document['options']['ports']} ports took {start['median_s']:.2f} s."
    ]


def doubts(result):
    """What a reader must know before believing the figures."""
    notes = []
    for series in result.series if "series" in result.document else []:
        if series.get("not_measured"):
            notes.append(f"{series['contender']} ({load_of(series)}) was not measured: {series['not_measured']}")
        if "cpus" not in series:
            continue
        disturbed = sum(1 for one in series["rounds"] if one["suspect"])
        if disturbed:
            notes.append(f"{series['contender']} ({load_of(series)}): in {disturbed} of {len(series['rounds'])} rounds "
                         "part of the frames went to Linux.")
        lost = sum(one["lost"] for one in series["rounds"])
        if lost:
            notes.append(f"{series['contender']} ({load_of(series)}): {lost:,} frames were lost.")
    load = float(result.document["machine"].get("load_before", "0").split()[0] or 0)
    if load > result.document["machine"].get("cpus", 1) / 2:
        notes.append(f"The machine was busy before the measurement (load {load:.1f}): trust ratios, not figures.")
    return notes


def compared(old, new):
    """Rows for two throughput results of the same loads: ratios to the ceiling survive another day."""
    rows = []
    for series in new.series:
        match = next(
            (
                one
                for one in old.series
                if (one["contender"], one["stations"], one["cpus"])
                == (series["contender"], series["stations"], series["cpus"])
            ),
            None,
        )
        if match is None or series["contender"] == "ceiling":
            continue
        before, after = ratios(old, match, "ceiling"), ratios(new, series, "ceiling")
        if before and after:
            rows.append((series["contender"], load_of(series), _ratio(before), _ratio(after), _verdict(before, after)))
    return rows


def _verdict(before, after):
    one, other = confidence(before), confidence(after)
    if one is None or other is None:
        return "too few rounds to tell"
    if one[1] < other[0]:
        return "faster"
    return "slower" if other[1] < one[0] else "no difference to be seen"
