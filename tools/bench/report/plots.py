# SPDX-License-Identifier: Apache-2.0
"""The pictures, as SVG text."""

import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy  # noqa: E402

# One colour for each contender on all pictures; what is not known gets one of the rest.
_COLOURS = {
    "linux": "#8a8f98",
    "linux+nf": "#c3c7cd",
    "tna": "#0b7285",
    "tna-mirror": "#63b5c1",
    "tna-tcx": "#3b8ea5",
    "ceiling": "#2b2f36",
    "direct": "#e0a458",
    "xdp-forward": "#5c7cfa",
    "ovs": "#2f9e44",
    "ovs-packet": "#a9d8b2",
    "dpdk": "#c92a2a",
    "dpdk-packet": "#e8a5a5",
    "polycube": "#9c36b5",
    "polycube-bridge": "#d0a3de",
}
_REST = ["#862e9c", "#2b8a3e", "#a61e4d", "#1864ab"]

plt.rcParams.update({
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e8eb",
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "tna",
    "figure.constrained_layout.use": True,
})


def colour(contender):
    return _COLOURS.get(contender) or _REST[sum(contender.encode()) % len(_REST)]


def svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg"):]


def _names(series):
    return list(dict.fromkeys(one["contender"] for one in series))


def throughput_bars(series, title):
    """One load: a bar for each contender, with the quartiles of the rounds."""
    shown = [one for one in series if one["mpps"]]
    figure, axes = plt.subplots(figsize=(7, 0.5 * len(shown) + 1.1))
    for place, one in enumerate(reversed(shown)):
        rate = one["mpps"]
        low, high = rate["quartiles"]
        axes.barh(place, rate["median"], color=colour(one["contender"]), height=0.7,
                  xerr=[[rate["median"] - low], [high - rate["median"]]],
                  error_kw={"ecolor": "#868e96", "capsize": 3, "lw": 1})
        axes.annotate(f"{rate['median']:.2f}", (high, place), (6, 0), textcoords="offset points", va="center",
                      fontsize=9)
    axes.set_yticks(range(len(shown)), [one["contender"] for one in reversed(shown)])
    axes.set_xlabel("million frames per second (median; whiskers: quartiles)")
    axes.set_title(title, loc="left", fontsize=11)
    axes.margins(x=0.12)
    axes.grid(axis="y", visible=False)
    return svg(figure)


def scaling(series, key, label, title, logarithmic=False):
    """Rates over one property of the load, a line for each contender."""
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for name in _names(series):
        points = sorted((one[key], one["mpps"]) for one in series if one["contender"] == name and one["mpps"])
        where = [point[0] for point in points]
        axes.plot(where, [point[1]["median"] for point in points], "o-", ms=4, color=colour(name), label=name)
        axes.fill_between(where, [point[1]["quartiles"][0] for point in points],
                          [point[1]["quartiles"][1] for point in points], color=colour(name), alpha=0.15, lw=0)
    places = sorted({one[key] for one in series})
    if logarithmic:
        # None of something is a place, too.
        if 0 in places:
            axes.set_xscale("symlog", linthresh=1)
        else:
            axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label)
    axes.set_ylabel("Mpps")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9, ncols=3)
    return svg(figure)


def latency_distribution(series, title):
    """How many frames took no longer, at one load."""
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for one in series:
        if not one["histogram"]:
            continue
        times, counts = numpy.array(one["histogram"], dtype=float).T
        axes.step(times / 1000, numpy.cumsum(counts) / counts.sum() * 100, where="post", color=colour(one["contender"]),
                  label=one["contender"], lw=1.6)
    axes.set_xscale("log")
    axes.set_ylim(0, 100.5)
    axes.set_xlabel("microseconds from when a frame was due to its arrival")
    axes.set_ylabel("% of frames")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return svg(figure)


def latency_percentiles(series, title):
    parts = [("p50_ns", "p50"), ("p90_ns", "p90"), ("p99_ns", "p99"), ("p999_ns", "p99.9"), ("max_ns", "max")]
    names = _names(series)
    width = 0.8 / max(1, len(names))
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for place, name in enumerate(names):
        one = next(entry for entry in series if entry["contender"] == name)
        axes.bar([at + (place - (len(names) - 1) / 2) * width for at in range(len(parts))],
                 [one[part] / 1000 for part, _ in parts], width * 0.92, color=colour(name), label=name)
    axes.set_yscale("log")
    axes.set_xticks(range(len(parts)), [label for _, label in parts])
    axes.set_ylabel("microseconds")
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0, ncols=len(names))
    return svg(figure)
