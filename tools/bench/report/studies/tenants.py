# SPDX-License-Identifier: Apache-2.0
"""Statistics of `tna-bench tenants`: what neighbours do to throughput and loss."""

import numpy
from scipy import stats

from studies import tenant_findings as findings
from studies.observed import BURDENS, FACTORS, METRICS, SIGNIFICANT, WORDS, case_of, interval, kept, whole
from studies.words import table


def name_of(subject, size, checksums):
    times = "" if checksums == 0 else f", checksum × {checksums}"
    return f"{WORDS.get(subject, subject)}, {size} bytes{times}"


def holm(values):
    """p values corrected for their number (Holm); None stays."""
    order = sorted((value, place) for place, value in enumerate(values) if value is not None)
    corrected, least = [None] * len(values), 0.0
    for rank, (value, place) in enumerate(order):
        least = max(least, min(1.0, value * (len(order) - rank)))
        corrected[place] = least
    return corrected


def _observations(series):
    """A row for each run: the factors, and what was found."""
    for one in series:
        for run in whole(one):
            yield {"checksums": one["checksums"], "tenants": one["tenants"], "mpps": run["mpps"], "loss": run["loss"]} | {
                burden: one["tenants"] if one["burden"] == burden else 0 for burden in BURDENS}


def correlations(document):
    """Spearman's rank correlation of each factor with each metric, by subject and size. p is corrected for all tests. A
    burden is compared with no tenants, not with tenants of another burden."""
    rows = []
    groups = dict.fromkeys((one["subject"], one["frame_size"]) for one in document["series"])
    for subject, size in groups:
        series = [one for one in document["series"] if (one["subject"], one["frame_size"]) == (subject, size)]
        for factor in FACTORS:
            found = list(_observations(one for one in series if factor not in BURDENS or one["burden"] in ("none", factor)))
            levels = [one[factor] for one in found]
            if len(set(levels)) < 2:
                continue
            for metric in METRICS:
                values = [one[metric] for one in found]
                if len(set(values)) < 2:
                    continue
                result = stats.spearmanr(levels, values)
                if numpy.isnan(result.pvalue):  # of two
                    continue
                rows.append({"subject": subject, "frame_size": size, "factor": factor, "metric": metric,
                             "rho": float(result.statistic), "runs": len(found), "p": float(result.pvalue)})
    for row, corrected in zip(rows, holm([row["p"] for row in rows])):
        row["p_corrected"] = corrected
    return rows


def _summaries(document):
    rows = []
    for one in document["series"]:
        runs = whole(one)
        row = {name: one[name] for name in ("subject", "frame_size", "checksums", "burden", "tenants", "again")}
        for metric in METRICS:
            values = [run[metric] for run in runs]
            row[metric] = {"median": float(numpy.median(values)), "sd": float(numpy.std(values)),
                           "min": min(values), "max": max(values)} if values else None
        rows.append(row)
    return rows


def _noise(document):
    """How far throughput without tenants is from itself; and how far it is from the throughput with the most."""
    pairs, effects = [], []
    for again in (one for one in document["series"] if one["again"]):
        usual = next(one for one in document["series"] if not one["again"] and one["tenants"] == 0
                     and case_of(one) == case_of(again))
        pairs += [abs(numpy.log(one["mpps"] / other["mpps"])) for one, other in zip(whole(usual), whole(again))
                  if min(one["mpps"], other["mpps"]) > 0]
        alone = [run["mpps"] for run in whole(usual) + whole(again)]
        for one in document["series"]:
            beside = [run["mpps"] for run in whole(one)]
            if case_of(one) == case_of(again) and one["tenants"] and beside and alone:
                if min(numpy.median(alone), numpy.median(beside)) > 0:
                    effects.append(abs(numpy.log(numpy.median(beside) / numpy.median(alone))))
    if not pairs:
        return None
    itself = float(numpy.expm1(numpy.median(pairs)))
    others = float(numpy.expm1(numpy.median(effects))) if effects else None
    return {"itself": itself, "others": others, "pairs": len(pairs),
            "worthless": others is not None and itself >= others}


def _compared(document):
    """tna and plain Linux beside the same neighbours: which keeps more of what it does alone."""
    rows = []
    most = max(document["options"]["tenants"], default=0)
    for plain in ("bridge", "router"):
        for size in document["options"]["sizes"]:
            for burden in document["options"]["burdens"]:
                linux, tna = (kept(document, subject, size, 0, burden, most) for subject in (plain, plain + "-tna"))
                if not linux or not tna or not most:
                    continue
                ratios = [one / other for one, other in zip(tna, linux) if other > 0]
                if not ratios:
                    continue
                rows.append({"scenario": plain, "frame_size": size, "burden": burden, "tenants": most,
                             "linux_keeps": float(numpy.median(linux)), "tna_keeps": float(numpy.median(tna)),
                             "ratio": float(numpy.median(ratios)), "interval": interval(ratios)})
    return rows


def analyse(document):
    rows = correlations(document)
    return {"correlations": rows, "summaries": _summaries(document), "noise": _noise(document),
            "compared": _compared(document), "findings": findings.of(document, rows) if document["series"] else []}


def sentences(analysis):
    lines = []
    noise = analysis["noise"]
    if noise:
        lines.append(f"Without tenants, throughput differs from itself by {noise['itself']:.0%}"
                     + ("" if noise["others"] is None else f", from that beside tenants by {noise['others']:.0%}")
                     + (": too noisy, this run is worth nothing." if noise["worthless"] else "."))
    for row in analysis["compared"]:
        within = row["interval"]
        told = "too few rounds to tell which" if within is None else (
            "tna suffers less" if within[0] > 1 else "tna suffers more" if within[1] < 1 else "no difference to be seen")
        lines.append(f"Beside {row['tenants']} tenants that load {row['burden']}, a {row['scenario']} of plain Linux keeps "
                     f"{row['linux_keeps']:.0%} of its throughput, with tnad {row['tna_keeps']:.0%} ({row['frame_size']} "
                     f"bytes): {told}.")
    lines += [f"{one['finding']}: {one['verdict']} ({one['why']})." for one in analysis["findings"]]
    return lines


def case_rows(document):
    """A row for each case and each set of neighbours: median and SD of throughput and loss."""
    rows = []
    for one in document["series"]:
        runs = whole(one)
        beside = "none" if one["tenants"] == 0 else f"{one['tenants']} × {one['burden']}"
        if one["again"]:
            beside += " (again)"
        name = name_of(*case_of(one))
        if not runs:
            why = one["not_measured"] or next((run["not_measured"] for run in one["runs"]), "interrupted")
            rows.append([name, beside, "-", "-", "-", "-", why])
            continue
        cells = []
        for metric, scale in (("mpps", 1), ("loss", 100)):
            values = [run[metric] * scale for run in runs]
            cells += [f"{numpy.median(values):.3f}", f"{numpy.std(values):.3f}"]
        rows.append([name, beside, *cells, ""])
    return rows


COLUMNS = ["", "beside", "Mpps", "SD", "loss %", "SD", ""]


def text(document, analysis):
    strong = [row for row in analysis["correlations"] if row["p_corrected"] is not None
              and row["p_corrected"] < SIGNIFICANT]
    parts = [table(COLUMNS, case_rows(document))]
    if strong:
        parts.append("\nRank correlations that are no accident (Spearman, p corrected for all tests):\n" + table(
            ["", "factor", "metric", "ρ", "p"],
            [[f"{WORDS.get(row['subject'], row['subject'])}, {row['frame_size']} bytes", FACTORS[row["factor"]],
              METRICS[row["metric"]], f"{row['rho']:.2f}", f"{row['p_corrected']:.2g}"] for row in strong]))
    return "\n".join(parts) + "\n\n" + "\n".join(sentences(analysis)) + "\n"
