# SPDX-License-Identifier: Apache-2.0
"""The pictures of studies, as SVG text."""

import matplotlib.pyplot as plt
import numpy
import pandas
import seaborn

import plots
from studies import tenants

_BEST = 50
_POINTS = 400
_CLUSTERS = seaborn.color_palette("colorblind", 20)


def delays_density(rows, runs_of, title):
    """Density of the delays of the best configurations, coloured by cluster. `runs_of`: the runs of a configuration."""
    figure, axes = plt.subplots(figsize=(7, 3.6))
    seen = set()
    for row in rows[:_BEST]:
        # All but the rarest: one probe that was held up says nothing of a density.
        values = numpy.concatenate([run["quantiles_ns"][1:-1] for run in runs_of(row["settings"])]) / 1000
        values = values[values > 0]
        if len(values) < 2 or values.min() == values.max():
            continue
        seaborn.kdeplot(x=values, ax=axes, log_scale=True, gridsize=_POINTS, color=_CLUSTERS[row["cluster"] % 20], lw=1,
                        alpha=0.8, warn_singular=False,
                        label=None if row["cluster"] in seen else f"cluster {row['cluster']}")
        seen.add(row["cluster"])
    axes.set_xlabel("microseconds there and back")
    axes.set_ylabel("density")
    axes.set_title(title, loc="left", fontsize=11)
    if seen:
        axes.legend(frameon=False, fontsize=9)
    return plots.svg(figure)


def explained(rows, words, most=8):
    """What part of the differences each setting explains, with its uncertainty."""
    shown = rows[:most]
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(shown) + 1.1))
    for place, row in enumerate(reversed(shown)):
        axes.barh(place, row["share"] * 100, color="#0b7285", height=0.7,
                  xerr=[[max(0, row["share"] - row["low"]) * 100], [max(0, row["high"] - row["share"]) * 100]],
                  error_kw={"ecolor": "#868e96", "capsize": 3, "lw": 1})
    axes.set_yticks(range(len(shown)), [" with ".join(words[name] for name in row["term"]) for row in reversed(shown)])
    axes.set_xlabel("% of the variance (whiskers: 95 %)")
    axes.set_title("What explains the differences", loc="left", fontsize=11)
    axes.grid(axis="y", visible=False)
    return plots.svg(figure)


def _frame(document, size, metric):
    rows = []
    for one in document["series"]:
        if one["frame_size"] != size:
            continue
        subject = one["subject"] + (f" ×{one['checksums']}" if one["checksums"] else "")
        beside = "none" if one["tenants"] == 0 else f"{one['tenants']} {one['burden']}"
        rows += [{"subject": subject, "beside": beside, "value": run[metric] * (100 if metric == "loss" else 1),
                  "order": (one["burden"] if one["tenants"] else "", one["tenants"])} for run in tenants.whole(one)]
    return pandas.DataFrame(rows)


def boxes(document, size, metric):
    """A box for each subject beside each set of neighbours, and each run as a point."""
    frame = _frame(document, size, metric)
    if frame.empty:
        return None
    order = list(dict.fromkeys(frame.sort_values("order")["beside"]))
    subjects = list(dict.fromkeys(frame["subject"]))
    columns = 3
    lines = -(-len(subjects) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(9, 2.1 * lines + 0.6), sharex=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(subjects):
            axes.set_visible(False)
            continue
        own = frame[frame["subject"] == subjects[place]]
        seaborn.boxplot(data=own, x="beside", y="value", order=order, ax=axes, color="#d0ebef", linewidth=0.8, fliersize=0)
        # Points next to each other, not at random: the same file gives the same picture.
        seaborn.stripplot(data=own, x="beside", y="value", order=order, ax=axes, color="#0b7285", size=2.5, jitter=False)
        axes.set_title(subjects[place], loc="left", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("")
        axes.set_ylabel("Mpps" if metric == "mpps" else "% lost", fontsize=8)
        axes.tick_params(axis="x", rotation=90, labelsize=7, labelbottom=place + columns >= len(subjects))
        axes.tick_params(axis="y", labelsize=7)
    figure.suptitle(f"{tenants.METRICS[metric].capitalize()}, {size} bytes", x=0.01, ha="left", fontsize=11)
    return plots.svg(figure)


def heat_maps(rows):
    """Rank correlations of factors with metrics, one map for each subject and size."""
    groups = list(dict.fromkeys((row["subject"], row["frame_size"]) for row in rows))
    if not groups:
        return None
    columns = 3
    lines = -(-len(groups) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(9, 1.7 * lines + 0.6), squeeze=False)
    factors, metrics = list(tenants.FACTORS), list(tenants.METRICS)
    for place, axes in enumerate(grid.flat):
        if place >= len(groups):
            axes.set_visible(False)
            continue
        values = numpy.full((len(factors), len(metrics)), numpy.nan)
        notes = numpy.full(values.shape, "", dtype=object)
        for row in rows:
            if (row["subject"], row["frame_size"]) == groups[place]:
                where = factors.index(row["factor"]), metrics.index(row["metric"])
                values[where] = row["rho"]
                notes[where] = f"{row['rho']:.2f}" + ("*" if row["p_corrected"] < tenants.SIGNIFICANT else "")
        seaborn.heatmap(values, ax=axes, vmin=-1, vmax=1, cmap="vlag", annot=notes, fmt="", cbar=False,
                        xticklabels=[tenants.METRICS[name] for name in metrics], yticklabels=factors,
                        annot_kws={"size": 7})
        axes.set_title(f"{groups[place][0]}, {groups[place][1]} bytes", loc="left", fontsize=9)
        axes.tick_params(labelsize=7, rotation=0)
    figure.suptitle("Spearman's rank correlations (*: p < 0.05, corrected for all tests)", x=0.01, ha="left", fontsize=11)
    return plots.svg(figure)
