# SPDX-License-Identifier: Apache-2.0
"""The findings of the paper on packets in user space and in the kernel, one by one, and what is to be said of them here."""

from studies.function_runs import distance, times_text, why_not
from studies.observed import interval

_ALIKE = 1.1  # no more than this makes no difference
_LITTLE = 0.8  # what is kept of throughput, where something costs little
_HALF = 0.5
_FEW = "it was measured in too few rounds"


def _finding(text, verdict, why):
    return {"finding": text, "verdict": verdict, "why": why}


def _unasked(study, text, case, *contestants):
    """Why nothing can be said: somebody was not measured."""
    for name in contestants:
        series = study.series(name, *case) if name else None
        if series is None:
            return _finding(text, "cannot be asked", f"{name or 'user space'} was not measured in that case")
        if why := why_not(series):
            return _finding(text, "cannot be asked", f"{name}: {why}")
    return _finding(text, "cannot be asked", _FEW)


def _judge(study, text, one, other, case, holds, fails):
    """`holds` and `fails` look at an interval of the ratios."""
    ratios = study.ratios(one, other, *case) if one and other else []
    within = interval(ratios)
    if within is None:
        return _unasked(study, text, case, one, other)
    verdict = "holds" if holds(*within) else "does not hold" if fails(*within) else "is not seen"
    return _finding(text, verdict, f"{one} is {times_text(ratios)} of {other}")


def _faster(study, text, one, other, *case):
    return _judge(study, text, one, other, case, lambda low, high: low > 1, lambda low, high: high < 1)


def _alike(study, text, one, other, *case):
    return _judge(study, text, one, other, case, lambda low, high: low > 1 / _ALIKE and high < _ALIKE,
                  lambda low, high: low > 1 or high < 1)


def _change(study, text, workload, which, of, holds, fails):
    changed = study.changes(workload, which, of)
    within = interval(changed[3]) if changed else None
    if within is None:
        return _finding(text, "cannot be asked", "it was measured at one size only, or in too few rounds")
    user, sizes, ends, _ = changed
    why = "; ".join(f"at {size:,} {user} is {times_text(ratios)} of xdp" for size, ratios in zip((sizes[0], sizes[-1]), ends))
    return _finding(text, "holds" if holds(*within) else "does not hold" if fails(*within) else "is not seen", why)


def _grows(study, text, workload, which):
    """User space gains on XDP."""
    return _change(study, text, workload, which, lambda ratio: ratio, lambda low, high: low > 1, lambda low, high: high < 1)


def _shrinks(study, text, workload, which):
    """The difference becomes smaller, whoever is ahead."""
    return _change(study, text, workload, which, distance, lambda low, high: high < 1, lambda low, high: low > 1)


def _macswap(study):
    sent, dropped = ("macswap", "returned"), ("macswap", "dropped")
    return [
        _faster(study, "sent back, user space whose driver works by system calls is faster than XDP (the paper: 29 %)",
                "libxdp-sysc", "xdp", *sent),
        _alike(study, "sent back, a program that never sleeps does as well as one that sleeps in poll()", "busy", "poll", *sent),
        _faster(study, "sent back, XDP becomes much slower with a socket at its queue (the paper: by 80 %)", "xdp", "xdp-sk",
                *sent),
        _faster(study, "dropping, XDP is faster than user space", "xdp", study.user(*dropped), *dropped),
        _faster(study, "dropping, XDP becomes faster with a socket at its queue (the paper: 21 %)", "xdp-sk", "xdp", *dropped)]


def _demands(study):
    return [
        _grows(study, "dropping, the more memory is read, the better is user space beside XDP", "lookup", "dropped"),
        _grows(study, "sent back, likewise (the paper: from 19 to 39 % better)", "lookup", "returned"),
        _shrinks(study, "dropping, the more is computed, the less they differ", "checksum", "dropped"),
        _shrinks(study, "sent back, likewise", "checksum", "returned")]


def _firewalls(study):
    sizes = study.sizes("firewall", "dropped")
    few, many = (f"{sizes[0]:,}", f"{sizes[-1]:,}") if sizes else ("few", "many")
    sizes = sizes or [0]
    least, most = ("firewall", "dropped", sizes[0]), ("firewall", "dropped", sizes[-1])
    return [
        _faster(study, f"a firewall of {few} connections is faster in XDP (the paper: 29 %)", "xdp", study.user(*least),
                *least),
        _faster(study, f"one of {many} is faster in user space (the paper: 51 %)", study.user(*most), "xdp", *most)]


def _local(study):
    local = ("macswap", "local")
    user = study.user(*local)
    return [
        _judge(study, "for local traffic, XDP costs little (the paper: 9 %)", "xdp", "linux", local,
               lambda low, high: low > _LITTLE, lambda low, high: high < _LITTLE),
        _judge(study, "and user space more than half (the paper: 64 %)", user, "linux", local,
               lambda low, high: high < _HALF, lambda low, high: low > _HALF),
        _alike(study, "whichever way it waits", "busy", "poll", *local),
        _faster(study, "a socket at the queue costs XDP local traffic (the paper: 22 %)", "xdp", "xdp-sk", *local)]


def _chains(study):
    sizes = study.sizes("chain", "returned")
    little, much = (f"{sizes[0]} %", f"{sizes[-1]} %") if sizes else ("little", "much")
    sizes = sizes or [0]
    least, most = ("chain", "returned", sizes[0]), ("chain", "returned", sizes[-1])
    return [
        _faster(study, f"a chain that drops {little} is faster in user space (the paper: 19 %)", study.user(*least), "xdp",
                *least),
        _faster(study, f"and in XDP when it drops {much} (the paper: from 75 %)", "xdp", study.user(*most), *most),
        _faster(study, f"where it drops {little}, XDP alone is faster than a firewall in XDP before user space", "xdp", "hybrid",
                *least),
        _faster(study, "and so is the same user space alone", "poll", "hybrid", *least)]


# What the document says is left out, and what the paper found of it.
_LEFT_OUT = {
    "memcached behind a function": "an application behind XDP is 27 to 42 % faster than behind user space",
    "accesses of the last cache": "XDP writes to the last cache for each frame, user space does not"}


def _left_out(study):
    return [_finding(_LEFT_OUT[one["setting"]], "cannot be asked", f"{one['setting']}: {one['reason']}")
            for one in study.document["missing"] if one["setting"] in _LEFT_OUT]


def of(study):
    return (_macswap(study) + _demands(study) + _firewalls(study) + _local(study) + _chains(study) + _left_out(study))
