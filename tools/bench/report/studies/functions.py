# SPDX-License-Identifier: Apache-2.0
"""Statistics of `tna-bench functions`: what user space costs, and the kernel."""

import numpy

from studies import function_findings as findings
from studies.function_runs import RATES, Study, case_of, name_of, present, values, whole, why_not
from studies.observed import interval
from studies.words import table

_CPU = ("user", "system", "softirq")
# What the library is compared with: it, the other one, and what it is to be of that at least.
_COMPARED = (("poll", "libxdp-poll", 0.95), ("busy", "libxdp-busy", 0.95), ("busy", "dpdk", 2), ("poll", "dpdk", 2))


def _summary(found):
    if not found:
        return None
    low, median, high = (float(one) for one in numpy.percentile(found, [25, 50, 75]))
    return {"mean": float(numpy.mean(found)), "standard_deviation": float(numpy.std(found, ddof=1)) if len(found) > 1 else 0.0,
            "median": median, "quartiles": [low, high]}


def _summaries(document):
    rows = []
    for one in document["series"]:
        row = {"contestant": one["contestant"], "workload": one["workload"], "class": one["class"], "size": one["size"],
               "cpus": one["cpus"], "not_measured": why_not(one) if not whole(one) else None}
        for rate in RATES:
            row[rate] = _summary(present(values(one, rate)))
        for metric in ("loss", *_CPU):
            found = present(values(one, "full", metric))
            row[metric] = float(numpy.median(found)) if found else None
        rows.append(row)
    return rows


def _noise(rows):
    """How far the same is from itself, from round to round: the middle of all."""
    parts = [row[rate]["standard_deviation"] / row[rate]["mean"] for row in rows for rate in RATES
             if row[rate] and row[rate]["mean"] > 0]
    return float(numpy.median(parts)) if parts else None


def _compared(study):
    rows = []
    for which in ("returned", "dropped"):
        for one, other, least in _COMPARED:
            for rate in study.document["options"]["rates"]:
                ratios = study.ratios(one, other, "macswap", which, rate=rate)
                if ratios:
                    rows.append({"one": one, "other": other, "class": which, "rate": rate, "at_least": least,
                                 "ratio": float(numpy.median(ratios)), "interval": interval(ratios)})
    return rows


def analyse(document):
    study = Study(document)
    rows = _summaries(document)
    return {"summaries": rows, "noise": _noise(rows), "compared": _compared(study), "judged_at": study.rate,
            "findings": findings.of(study)}


def _met(row):
    within = row["interval"]
    if within is None:
        return "too few rounds to tell"
    return "it is" if within[0] >= row["at_least"] else "it is not" if within[1] < row["at_least"] else "it cannot be told"


def sentences(analysis):
    lines = []
    if analysis["noise"] is not None:
        lines.append(f"From round to round, the same deviates by {analysis['noise']:.0%} (the middle of all).")
    for row in analysis["compared"]:
        within = "" if row["interval"] is None else " ({:.2f} to {:.2f})".format(*row["interval"])
        lines.append(f"{row['one']} is × {row['ratio']:.2f}{within} of {row['other']}, macswap, frames {row['class']}, "
                     f"{RATES[row['rate']]}; to be × {row['at_least']:g} at least: {_met(row)}.")
    lines += [f"{one['finding']}: {one['verdict']} ({one['why']})." for one in analysis["findings"]]
    return lines


COLUMNS = ["", "by", "Mpps, full offer", "median (quartiles)", "lost", "Mpps without loss", "median (quartiles)", "user",
           "system", "softirq", ""]


def _cells(summary):
    if summary is None:
        return ["-", "-"]
    return [f"{summary['mean']:.3f} ± {summary['standard_deviation']:.3f}",
            "{:.3f} ({:.3f}-{:.3f})".format(summary["median"], *summary["quartiles"])]


def rows_of(analysis):
    rows = []
    for row in analysis["summaries"]:
        parts = ["-" if row[metric] is None else f"{row[metric]:.2f}" for metric in _CPU]
        lost = "-" if row["loss"] is None else f"{row['loss']:.0%}"
        rows.append([name_of(*case_of(row)), row["contestant"], *_cells(row["full"]), lost, *_cells(row["rfc2544"]), *parts,
                     row["not_measured"] or ""])
    return rows


def text(document, analysis):
    shown = [row for row in rows_of(analysis) if not row[-1]]
    unable = dict.fromkeys(f"{row[1]}: {row[-1]}" for row in rows_of(analysis) if row[-1])
    parts = [table(COLUMNS[:-1], [row[:-1] for row in shown]),
             "user, system, softirq: processors of the machine under test that were busy at full offer, other work included"]
    if unable:
        parts.append("not measured:\n" + "\n".join(f"- {line}" for line in unable))
    parts.append("\n".join(f"missing: {one['setting']}: {one['reason']}" for one in document["missing"]))
    return "\n\n".join([*parts, "\n".join(sentences(analysis))]) + "\n"
