# SPDX-License-Identifier: Apache-2.0
"""Whether something grows: figures of many rounds that should stay the same."""

from dataclasses import dataclass
from statistics import median


@dataclass
class Limit:
    """What the last rounds may have more than the first ones: so much, or such a part, whichever is more."""
    unit: str
    absolute: float
    relative: float = 0.0


# Memory of an allocator comes in steps; programs and maps of profiles are kept for a while; times depend on what
# else the machine does.
LIMITS = {
    "rss_kib": Limit("KiB", 3072, 0.05),
    "threads": Limit("", 0),
    "descriptors": Limit("", 8),
    "progs": Limit("", 4),
    "maps": Limit("", 4),
    "links": Limit("", 0),
    "memlock_kib": Limit("KiB", 256),
    "join_ms": Limit("ms", 20, 2.0),
    "swap_us": Limit("us", 5000, 2.0),
    "answer_ms": Limit("ms", 20, 2.0),
}
ENOUGH = 8  # rounds to tell growth from chance


@dataclass
class Finding:
    name: str
    first: float
    middle: float
    last: float
    per_hour: float
    grows: bool


def slope(times, values):
    """The median of the slopes between all pairs: outliers do not move it."""
    slopes = [(values[j] - values[i]) / (times[j] - times[i])
              for i in range(len(values)) for j in range(i + 1, len(values)) if times[j] > times[i]]
    return median(slopes) if slopes else 0.0


def judge(name, times, values, limit):
    """The first quarter is left out where there are enough rounds: caches and tables reach their size in it."""
    enough = len(values) >= ENOUGH
    warm = len(values) // 4 if enough else 0
    times, values = thin(times[warm:]), thin(values[warm:])
    part = max(1, len(values) // 3)
    first, last = median(values[:part]), median(values[-part:])
    allowed = max(limit.absolute, limit.relative * first)
    return Finding(name, first, median(values), last, slope(times, values) * 3600, enough and last - first > allowed)


def thin(values, most=400):
    """Every so manieth of many: pairs are many more."""
    return values[::max(1, len(values) // most)]


def judge_all(rounds):
    times = [one["at_s"] for one in rounds]
    return [judge(name, times, [one[name] for one in rounds], limit) for name, limit in LIMITS.items()]


def table(findings):
    lines = [f"{'':<12} {'first':>10} {'median':>10} {'last':>10} {'per hour':>10}"]
    for finding in findings:
        unit = LIMITS[finding.name].unit
        label = finding.name.rsplit("_", 1)[0] if unit else finding.name
        lines.append(f"{label:<12} {finding.first:>10.1f} {finding.middle:>10.1f} {finding.last:>10.1f} "
                     f"{finding.per_hour:>+10.1f} {unit:<3} {'GROWS' if finding.grows else 'ok'}")
    return "\n".join(lines)
