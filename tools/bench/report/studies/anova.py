# SPDX-License-Identifier: Apache-2.0
"""Which factor explains how much: a linear model of factors and of pairs of them, by least squares."""

import itertools

import numpy
from scipy import stats

# A fixed seed: the same file gives the same answer.
_SEED = 1
_RESAMPLES = 500


def _coded(levels):
    """Columns for a factor that sum to zero over its levels, so that factors do not share what they explain."""
    names = sorted(set(levels))
    columns = numpy.array([[1.0 if level == name else 0.0 for name in names[:-1]] for level in levels])
    columns[[level == names[-1] for level in levels]] = -1
    return columns


def _design(factors):
    """{term: columns}, of all factors and all pairs."""
    terms = {(name,): _coded(levels) for name, levels in factors.items() if len(set(levels)) > 1}
    for one, other in itertools.combinations([name for (name,) in terms], 2):
        product = terms[one,][:, :, None] * terms[other,][:, None, :]
        terms[one, other] = product.reshape(len(product), -1)
    return terms


def _residual(columns, values):
    if columns.shape[1] == 0:
        return float((values ** 2).sum())
    solution, *_ = numpy.linalg.lstsq(columns, values, rcond=None)
    return float(((values - columns @ solution) ** 2).sum())


def _shares(terms, values):
    """The part of the variance that each term alone explains; what is left; and the whole."""
    constant = numpy.ones((len(values), 1))
    whole = _residual(constant, values)
    full = numpy.hstack([constant, *terms.values()])
    left = _residual(full, values)
    sums = {}
    for term in terms:
        without = numpy.hstack([constant, *(columns for other, columns in terms.items() if other != term)])
        sums[term] = max(0.0, _residual(without, values) - left)
    return sums, left, whole


def variance(factors, values):
    """Rows of an analysis of variance, most first: {term, share, low, high, f, p}. `factors`: {name: level of each
    value}. Shares are parts of all variance, with a 95 % interval by resampling the values of each combination."""
    values = numpy.asarray(values, dtype=float)
    terms = _design(factors)
    if not terms or len(values) < 3:
        return []
    sums, left, whole = _shares(terms, values)
    if whole <= 0:
        return []
    freedom = len(values) - 1 - sum(columns.shape[1] for columns in terms.values())
    cells = {}
    for place, cell in enumerate(zip(*(factors[name] for name in factors))):
        cells.setdefault(cell, []).append(place)
    random = numpy.random.default_rng(_SEED)
    drawn = {term: [] for term in terms}
    for _ in range(_RESAMPLES):
        places = numpy.empty(len(values), dtype=int)
        for members in cells.values():
            places[members] = random.choice(members, len(members))
        again, _, all_of_it = _shares(terms, values[places])
        for term in terms:
            drawn[term].append(again[term] / all_of_it if all_of_it > 0 else 0.0)
    rows = []
    for term, columns in terms.items():
        degrees = columns.shape[1]
        ratio = (sums[term] / degrees) / (left / freedom) if freedom > 0 and left > 0 else None
        low, high = numpy.percentile(drawn[term], [2.5, 97.5])
        rows.append({"term": list(term), "share": sums[term] / whole, "low": float(low), "high": float(high),
                     "f": ratio, "p": float(stats.f.sf(ratio, degrees, freedom)) if ratio is not None else None})
    return sorted(rows, key=lambda row: -row["share"])
