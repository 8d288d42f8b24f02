# SPDX-License-Identifier: Apache-2.0
"""The pictures of `tna-bench functions`, as the paper has them, as SVG text."""

import matplotlib.pyplot as plt

import plots
from studies.function_runs import CLASSES, RATES, SIZES

_CPU = {"user": "#0b7285", "system": "#e0a458", "softirq": "#8a8f98"}
_COLOURS = {"linux": "#8a8f98", "poll": "#63b5c1", "busy": "#0b7285", "xdp": "#5c7cfa", "xdp-sk": "#b197fc", "hybrid": "#e64980",
            "libxdp-poll": "#a9d8b2", "libxdp-busy": "#2f9e44", "libxdp-sysc": "#e0a458", "dpdk": "#c92a2a"}


def _title(workload, which, cpus):
    return f"{workload}, {CLASSES[which]}, {cpus} processor{'s' if cpus > 1 else ''}"


def _bars(rows, rate):
    """A bar for each contestant: means, and standard deviations as in the paper."""
    shown = [row for row in rows if row[rate]]
    figure, axes = plt.subplots(figsize=(7, 0.42 * len(shown) + 1.1))
    for place, row in enumerate(reversed(shown)):
        found = row[rate]
        axes.barh(place, found["mean"], color=_COLOURS.get(row["contestant"]), height=0.7, xerr=found["standard_deviation"],
                  error_kw={"ecolor": "#868e96", "capsize": 3, "lw": 1})
    axes.set_yticks(range(len(shown)), [row["contestant"] for row in reversed(shown)])
    axes.set_xlabel(f"million frames per second, {RATES[rate]} (mean; whiskers: standard deviation)")
    axes.set_title(_title(rows[0]["workload"], rows[0]["class"], rows[0]["cpus"]), loc="left", fontsize=11)
    axes.grid(axis="y", visible=False)
    return plots.svg(figure)


def _processors(rows):
    """What the processors of the machine under test did, one part on the other."""
    shown = [row for row in rows if row["user"] is not None]
    figure, axes = plt.subplots(figsize=(7, 3))
    for place, row in enumerate(shown):
        height = 0.0
        for part, colour in _CPU.items():
            much = max(0.0, row[part]) * 100
            axes.bar(place, much, bottom=height, color=colour, width=0.7, label=part if place == 0 else None)
            height += much
    axes.set_xticks(range(len(shown)), [row["contestant"] for row in shown], rotation=30, ha="right")
    axes.set_ylabel("% of a processor")
    axes.set_title("Processors at full offer: " + _title(rows[0]["workload"], rows[0]["class"], rows[0]["cpus"]), loc="left",
                   fontsize=11)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.2)  # room for what the colours are
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper right")
    return plots.svg(figure)


def _curves(rows, rate):
    """Over the size, a line for each contestant."""
    workload = rows[0]["workload"]
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for name in dict.fromkeys(row["contestant"] for row in rows if row[rate]):
        points = sorted((row["size"], row[rate]["mean"], row[rate]["standard_deviation"]) for row in rows
                        if row["contestant"] == name and row[rate])
        where, means, deviations = zip(*points)
        axes.errorbar(where, means, yerr=deviations, fmt="o-", ms=4, capsize=3, lw=1.4, color=_COLOURS.get(name), label=name)
    places = sorted({row["size"] for row in rows})
    if workload != "chain":
        axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(SIZES[workload])
    axes.set_ylabel("Mpps")
    axes.set_title(f"{_title(workload, rows[0]['class'], rows[0]['cpus'])}, {RATES[rate]}", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9, ncols=3)
    return plots.svg(figure)


def all_of(analysis):
    groups = {}
    for row in analysis["summaries"]:
        groups.setdefault((row["workload"], row["class"], row["cpus"]), []).append(row)
    drawn = []
    for (workload, _, _), rows in groups.items():
        for rate in RATES:
            if any(row[rate] for row in rows):
                drawn.append(_curves(rows, rate) if workload in SIZES else _bars(rows, rate))
        if workload not in SIZES and any(row["user"] is not None for row in rows):
            drawn.append(_processors(rows))
    return drawn
