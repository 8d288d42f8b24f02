# SPDX-License-Identifier: Apache-2.0
"""The findings of the paper on XDP and DPDK beside busy tenants, one by one, and what is to be said of them here."""

import numpy
from scipy import stats

from studies.observed import FACTORS, SIGNIFICANT, WORDS, interval, kept, rounds_of, whole

# A part of throughput, or of all frames, that is called nothing.
_NOTHING = 0.05
_TOO_LITTLE = "too little was measured"


def _finding(text, verdict, why):
    return {"finding": text, "verdict": verdict, "why": why}


def _asked(text, holds, why, otherwise="does not hold"):
    return _finding(text, "cannot be asked" if holds is None else "holds" if holds else otherwise, why)


def _percent(values):
    return " to ".join(f"{100 * value:.0f} %" for value in values)


class _Study:
    """One document, and the rank correlations in it."""

    def __init__(self, document, rows):
        options = document["options"]
        self.document, self.rows = document, rows
        self.small, self.large = min(options["sizes"]), max(options["sizes"])
        self.few, self.many = min(options["checksums"]), max(options["checksums"])
        self.checksums = sorted(set(options["checksums"]))
        self.most = max(options["tenants"], default=0)
        own = any(one["subject"] == "dpdk-pmd" and whole(one) for one in document["series"])
        self.dpdk = "dpdk-pmd" if own else "dpdk"
        self.both = ("xdp", self.dpdk)

    def median(self, metric, subject, size, checksums):
        values = rounds_of(self.document, metric, (subject, size, checksums))
        return float(numpy.median(values)) if values else None

    def row(self, subject, size, factor, metric="mpps"):
        return next((row for row in self.rows if (row["subject"], row["frame_size"], row["factor"], row["metric"]) == (
            subject, size, factor, metric)), None)

    def kept(self, subject, size, burden, checksums=None):
        """The part of its throughput that it keeps beside the most tenants, each round."""
        return [ratio for times in checksums or self.checksums if self.most
                for ratio in kept(self.document, subject, size, times, burden, self.most)]

    def lost_more(self, subject, size, burden):
        """The part of all frames that it loses beside the most tenants, and does not lose without, each round."""
        case = [(rounds_of(self.document, "loss", (subject, size, times)),
                 rounds_of(self.document, "loss", (subject, size, times), burden, self.most)) for times in self.checksums]
        return [beside - alone for pair in case for alone, beside in zip(*pair) if self.most]


def _costs(text, parts, matters):
    """Whether tenants cost what the paper says (`matters`), or nothing, as it says. `parts`: {words: parts of throughput
    that are kept}."""
    ranges = {words: interval(values) for words, values in parts.items()}
    if not ranges or None in ranges.values():
        return _finding(text, "cannot be asked", _TOO_LITTLE)
    why = "; ".join(f"{words} keeps {_percent(within)}" for words, within in ranges.items())
    cost = [within[1] < 1 for within in ranges.values()]
    free = [within[0] > 1 - _NOTHING for within in ranges.values()]
    if matters:
        return _finding(text, "holds" if all(cost) else "does not hold" if all(free) else "is not seen", why)
    dear = any(within[1] < 1 - _NOTHING for within in ranges.values())
    return _finding(text, "holds" if all(free) else "does not hold" if dear else "cannot be told", why)


def _more_lost(text, parts):
    ranges = {words: interval(values) for words, values in parts.items()}
    if not ranges or None in ranges.values():
        return _finding(text, "cannot be asked", _TOO_LITTLE)
    why = "; ".join(f"{words}: {_percent(within)} of all frames more" for words, within in ranges.items())
    return _asked(text, all(within[0] > 0 for within in ranges.values()), why,
                  "does not hold" if all(within[1] < _NOTHING for within in ranges.values()) else "is not seen")


def _frameworks(study):
    """DPDK and XDP without tenants."""
    found = []
    xdp, dpdk = (study.median("mpps", subject, study.small, study.few) for subject in study.both)
    note = "" if study.dpdk == "dpdk-pmd" else "; of DPDK no driver of its own, but sockets"
    found.append(_asked("with small packets DPDK drops more than XDP", None if None in (xdp, dpdk) else dpdk > xdp,
                        "one of them was not measured" if None in (xdp, dpdk) else f"{dpdk:.2f} and {xdp:.2f} Mpps{note}"))
    xdp, dpdk = (study.median("loss", subject, study.small, study.few) for subject in study.both)
    found.append(_asked("XDP loses about half of the small packets, DPDK almost none",
                        None if None in (xdp, dpdk) else 0.35 < xdp < 0.65 and dpdk < _NOTHING,
                        "one of them was not measured" if None in (xdp, dpdk) else f"{xdp:.0%} and {dpdk:.0%}{note}"))
    for subject, paper in (("xdp", "57.8"), (study.dpdk, "24.8")):
        one, ten = (study.median("mpps", subject, study.small, times) for times in (study.few, study.many))
        asked = one and ten is not None and study.many > study.few
        found.append(_asked(f"{study.many} checksums in the place of {study.few} cost {WORDS[subject]} much (the paper: {paper} %)",
                            one > 1.1 * ten if asked else None, f"{one:.2f} and {ten:.2f} Mpps" if asked else _TOO_LITTLE))
    losses = [[study.median("loss", subject, size, study.few) for size in (study.small, study.large)] for subject in study.both]
    asked = study.small != study.large and not any(None in pair for pair in losses)
    found.append(_asked("small packets are lost more often than large ones",
                        all(small > large for small, large in losses) if asked else None,
                        "; ".join(f"{WORDS[subject]}: {small:.0%} and {large:.0%}"
                                  for subject, (small, large) in zip(study.both, losses)) if asked else
                        _TOO_LITTLE if study.small != study.large else "there was only one size"))
    return found


def _deciding(study):
    """Checksums, or tenants."""
    found = []
    for subject in study.both:
        strongest = max((row for row in study.rows if row["metric"] == "mpps" and row["subject"] == subject
                         and row["frame_size"] == study.small), key=lambda row: abs(row["rho"]), default=None)
        told = strongest is not None and strongest["p_corrected"] < SIGNIFICANT
        found.append(_asked(f"the number of checksums decides about {WORDS[subject]} more than tenants do",
                            None if strongest is None or study.many == study.few else
                            told and strongest["factor"] == "checksums" and strongest["rho"] < 0,
                            _TOO_LITTLE if strongest is None else
                            f"strongest is {FACTORS[strongest['factor']]}, ρ = {strongest['rho']:.2f}, "
                            f"p = {strongest['p_corrected']:.2g}", "does not hold" if told else "is not seen"))
    return found


def _tenants(study):
    """What they cost, by what they load."""
    small = f"{study.small} bytes"
    found = [
        _costs("tenants that load CPUs cost DPDK throughput of small packets when it computes many checksums",
               {WORDS[study.dpdk]: study.kept(study.dpdk, study.small, "cpu", [study.many])}, True),
        _costs("and cost XDP nothing then", {WORDS["xdp"]: study.kept("xdp", study.small, "cpu", [study.many])}, False),
        _costs("tenants that load a disk cost nothing",
               {WORDS[subject]: study.kept(subject, study.small, "disk") for subject in study.both}, False),
        _costs("tenants that load the network cost throughput of small packets",
               {WORDS[subject]: study.kept(subject, study.small, "network") for subject in study.both}, True),
        _more_lost("tenants that load the network have DPDK lose more small packets (the paper: 6 %)",
                   {f"{WORDS[study.dpdk]}, {small}": study.lost_more(study.dpdk, study.small, "network")})]
    return found


def _large(study):
    """What the paper finds with packets of 1500 bytes."""
    texts = [f"with large packets, tenants cost {WORDS[subject]} no throughput" for subject in study.both] + [
        "with large packets, tenants that load the network make XDP's throughput vary",
        "the more tenants, the more large packets are lost",
        "with large packets, the number of checksums decides nothing about DPDK",
        "with large packets, tenants decide about XDP's loss more than checksums do",
        "tenants matter more for small packets than for large ones"]
    if study.small == study.large:
        return [_finding(text, "cannot be asked", "there was only one size") for text in texts]
    burdens = [one for one in study.document["options"]["burdens"]]
    found = [_costs(text, {f"beside {burden}, it": study.kept(subject, study.large, burden) for burden in burdens
                           if study.kept(subject, study.large, burden)}, False)
             for text, subject in zip(texts, study.both)]
    found.append(_varies(study, texts[2]))
    found.append(_ranked(study, texts[3], [study.row(subject, study.large, "tenants", "loss") for subject in study.both],
                         lambda rows: all(row["rho"] > 0 and row["p_corrected"] < SIGNIFICANT for row in rows), "is not seen"))
    found.append(_ranked(study, texts[4], [study.row(study.dpdk, study.large, "checksums", metric) for metric in ("mpps", "loss")],
                         lambda rows: all(abs(row["rho"]) < 0.3 for row in rows), "does not hold"))
    found.append(_ranked(study, texts[5], [study.row("xdp", study.large, factor, "loss") for factor in ("tenants", "checksums")],
                         lambda rows: abs(rows[0]["rho"]) > abs(rows[1]["rho"]), "does not hold"))
    pairs = [[study.row(subject, size, "tenants") for size in (study.small, study.large)] for subject in study.both]
    found.append(_ranked(study, texts[6], [row for pair in pairs for row in pair],
                         lambda rows: all(-small["rho"] > -large["rho"] for small, large in zip(rows[::2], rows[1::2])),
                         "does not hold"))
    return found


def _ranked(study, text, rows, holds, otherwise):
    if None in rows:
        return _finding(text, "cannot be asked", _TOO_LITTLE)
    why = "; ".join(f"{WORDS[row['subject']]}, {row['frame_size']} bytes, {FACTORS[row['factor']]}: ρ = {row['rho']:.2f}, "
                    f"p = {row['p_corrected']:.2g}" for row in rows)
    return _asked(text, holds(rows), why, otherwise)


def _varies(study, text):
    """Whether throughput is further from its median beside tenants (Brown and Forsythe)."""
    spread = []
    for burden, count in (("none", 0), ("network", study.most)):
        values = []
        for times in study.checksums:
            own = rounds_of(study.document, "mpps", ("xdp", study.large, times), burden, count)
            values += [value / numpy.median(own) for value in own if numpy.median(own) > 0]
        spread.append(values)
    if min(len(values) for values in spread) < 3:
        return _finding(text, "cannot be asked", _TOO_LITTLE)
    alone, beside = (float(numpy.std(values)) for values in spread)
    p = float(stats.levene(*spread, center="median").pvalue) if alone or beside else 1.0
    if numpy.isnan(p):
        p = 1.0
    return _asked(text, beside > alone and p < SIGNIFICANT,
                  f"it deviates by {alone:.1%} without them, by {beside:.1%} beside them, p = {p:.2g}",
                  "does not hold" if p < SIGNIFICANT else "is not seen")


def of(document, rows):
    study = _Study(document, rows)
    return _frameworks(study) + _deciding(study) + _tenants(study) + _large(study)
