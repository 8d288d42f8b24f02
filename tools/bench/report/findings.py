# SPDX-License-Identifier: Apache-2.0
"""What a result says, in sentences, and what makes it doubtful."""

import numpy

# A fixed seed: the same file gives the same page.
_SEED = 1
_RESAMPLES = 2000


# What makes a load of throughput another one: its field, what there usually is of it, and how it is called for one and
# for several.
AXES = (("stations", None, "station", "stations"), ("cpus", None, "CPU", "CPUs"), ("frame_size", None, "byte", "bytes"),
        ("routes", 1, "route", "routes"), ("rules", 0, "netfilter rule", "netfilter rules"),
        ("routing_rules", 0, "routing rule", "routing rules"), ("entries", 0, "more station", "more stations"),
        ("rule_changes", 0, "change of the rules per second", "changes of the rules per second"))


def load_of(series, without=None):
    """"200 stations, 1 CPU, 64 bytes", and what else is not usual"""
    parts = []
    for field, usual, one, several in AXES:
        value = series.get(field, usual)
        if field == without or value == usual:
            continue
        parts.append(size_text(value) if field == "frame_size" else f"{value:,} {one if value == 1 else several}")
    return ", ".join(parts)


def key_of(series):
    return tuple(series.get(field, usual) for field, usual, *_ in AXES)


def size_text(size):
    return "IMIX" if size == "imix" else f"{size} bytes"


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
            if one["contender"] == base and key_of(one) == key_of(series)
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
                             f"longer{' there and back' if result.document['options']['round_trip'] else ''} than: "
                             f"{', '.join(medians)}.")
    return sentences


def of_kill(result):
    rounds = result.document.get("rounds", [])
    lost = sum(one["with_kill"]["lost"] for one in rounds)
    usual = sum(one["without_kill"]["lost"] for one in rounds)
    return [f"{lost} frames were lost in {len(rounds)} kills under load, and {usual} under the same load without a kill."]


def of_change(result):
    sentences = []
    for one in result.series:
        if not one["closed"]:
            continue
        worst = max(one["closed"]["max_s"], one["opened"]["max_s"]) * 1000
        text = ("not one frame that was sent after the system call had returned was treated the old way" if worst == 0 else
                f"the change held {one['closed']['median_s'] * 1000:.3f} ms after the system call had returned (median; at most "
                f"{one['closed']['max_s'] * 1000:.3f}), changed back after {one['opened']['median_s'] * 1000:.3f} ms (at most "
                f"{one['opened']['max_s'] * 1000:.3f})")
        sentences.append(f"{one['contender']}, {one['change']}: {text}.")
    return sentences


def of_reaction(result):
    times = result.document["reaction"]
    start = result.document["start_up"]
    return [
        f"A change was in effect after {times['median_s'] * 1000:.2f} ms (99 %: {times['p99_s'] * 1000:.2f} ms); "
        f"start-up with {result.document['options']['ports']} ports took {start['median_s']:.2f} s."
    ]


def of_micro(result):
    return [f"{one['module']}: {one['over_empty_ns']['median']:.0f} ns for each frame, {one['instructions']} instructions."
            for one in result.document["rows"] if one["over_empty_ns"] and one["profile"] != "empty"]


def doubts(result):
    """What a reader must know before believing the figures."""
    notes = []
    for series in result.series if "series" in result.document else []:
        if series.get("not_measured") and "contender" in series:
            load = f" ({load_of(series)})" if "cpus" in series else ""
            notes.append(f"{series['contender']}{load} was not measured: {series['not_measured']}")
        if "cpus" not in series or "contender" not in series:
            continue
        disturbed = sum(1 for one in series["rounds"] if one["suspect"])
        if disturbed:
            notes.append(f"{series['contender']} ({load_of(series)}): in {disturbed} of {len(series['rounds'])} rounds "
                         "part of the frames went to Linux.")
        lost = sum(one["lost"] for one in series["rounds"])
        if lost:
            notes.append(f"{series['contender']} ({load_of(series)}): {lost:,} frames were lost.")
        stolen = sum(1 for one in series["rounds"] if one["disturbed"])
        if stolen:
            notes.append(f"{series['contender']} ({load_of(series)}): in {stolen} of {len(series['rounds'])} rounds other "
                         "machines of the host took processor time.")
        for field, words in (("late", "came after later ones"), ("twice", "came twice")):
            count = sum(one[field] for one in series["rounds"])
            if count:
                notes.append(f"{series['contender']} ({load_of(series)}): {count:,} frames {words}.")
    notes += _of_contenders(result.series if "series" in result.document else [])
    load = float(result.document["machine"].get("load_before", "0").split()[0] or 0)
    if load > result.document["machine"].get("cpus", 1) / 2:
        notes.append(f"The machine was busy before the measurement (load {load:.1f}): trust ratios, not figures.")
    return notes


def _of_contenders(all_series):
    """What a contender is, said once however many loads it had."""
    notes = [f"{name}: {remark}." for name, remark in
             sorted({(one["contender"], remark) for one in all_series for remark in one.get("remarks", [])})]
    own = sorted({one["contender"] for one in all_series if one.get("cores")})
    if own:
        notes.append(f"{', '.join(own)}: with a processor of its own, and not throttling the generator as those in the "
                     "kernel do; at full offer the two kinds do not compare, at the same paced rate they do.")
    for tcp, words in (("no", "real TCP connections do not work through it"),
                       ("tx off", "real TCP connections work only where senders finish their frames themselves")):
        for name in sorted({one["contender"] for one in all_series if one.get("tcp") == tcp}):
            notes.append(f"{name}: {words}.")
    return notes


def of_rfc2544(result):
    sentences = []
    tolerance = result.document["options"]["loss_percent"]
    for series in result.series:
        if not series["mpps"] or series["not_measured"]:
            continue
        text = f"{series['contender']} carries {series['mpps']['median']:.2f} Mpps with a loss of up to {tolerance:g} %"
        if series["x_linux"] and series["contender"] != "linux":
            text += f", {series['x_linux']['median']:.2f} times plain Linux"
        sentences.append(text + (", and throttles the generator before it loses any." if series["throttled"] else "."))
    return sentences


def of_containers(result):
    options = result.document["options"]
    place = ("A container on a bridge and a machine outside" if options["outside"]
             else f"Two containers on {'ports of a router' if options['routed'] else 'a bridge'}")
    rules = " with Docker's rules" if options["rules"] == "docker" else ""
    return [f"{place}{rules}, both ends on one processor: {result.document['fast_part'] * 100:.1f} % of what came in took "
            "the fast path."]


def compared(old, new):
    """Rows for two throughput results of the same loads: ratios to the ceiling survive another day."""
    rows = []
    for series in new.series:
        match = next(
            (
                one
                for one in old.series
                if (one["contender"], key_of(one)) == (series["contender"], key_of(series))
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
