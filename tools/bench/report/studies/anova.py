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


def _basis(columns):
    """Orthonormal columns for the same space, whatever of them depends on others."""
    basis, sizes, _ = numpy.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > 1e-9 * sizes.max()]


class _Model:
    """What each term alone explains of many sets of values at once."""

    def __init__(self, terms):
        count = len(next(iter(terms.values())))
        constant = numpy.ones((count, 1))
        self.constant = _basis(constant)
        self.full = _basis(numpy.hstack([constant, *terms.values()]))
        self.without = {term: _basis(numpy.hstack([constant, *(columns for other, columns in terms.items()
                                                               if other != term)])) for term in terms}

    def squares(self, values):
        """({term: sum of squares}, what is left, the whole), for each column of values."""
        def left_by(basis):
            return numpy.maximum(0, (values ** 2).sum(axis=0) - ((basis.T @ values) ** 2).sum(axis=0))
        left = left_by(self.full)
        return {term: numpy.maximum(0, left_by(basis) - left) for term, basis in self.without.items()}, left, left_by(
            self.constant)


def variance(factors, values):
    """Rows of an analysis of variance, most first: {term, share, low, high, f, p}. `factors`: {name: level of each
    value}. Shares are parts of all variance, with a 95 % interval by resampling the values of each combination."""
    values = numpy.asarray(values, dtype=float)
    terms = _design(factors)
    if not terms or len(values) < 3:
        return []
    # Around zero, so that squares are not small differences of large ones.
    values = values - values.mean()
    model = _Model(terms)
    sums, left, whole = model.squares(values[:, None])
    left, whole = float(left[0]), float(whole[0])
    if whole <= 1e-12 * max(1.0, float((values ** 2).sum())):
        return []
    freedom = len(values) - model.full.shape[1]
    cells = {}
    for place, cell in enumerate(zip(*(factors[name] for name in factors))):
        cells.setdefault(cell, []).append(place)
    random = numpy.random.default_rng(_SEED)
    places = numpy.empty((len(values), _RESAMPLES), dtype=int)
    for members in cells.values():
        places[members] = random.choice(members, (len(members), _RESAMPLES))
    again, _, all_of_it = model.squares(values[places] - values[places].mean(axis=0))
    rows = []
    for term, columns in terms.items():
        degrees = columns.shape[1]
        own = float(sums[term][0])
        ratio = (own / degrees) / (left / freedom) if freedom > 0 and left > 0 else None
        low, high = numpy.percentile(again[term] / numpy.where(all_of_it > 0, all_of_it, 1), [2.5, 97.5])
        rows.append({"term": list(term), "share": own / whole, "low": float(low), "high": float(high),
                     "f": ratio, "p": float(stats.f.sf(ratio, degrees, freedom)) if ratio is not None else None})
    return sorted(rows, key=lambda row: -row["share"])
