#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One HTML page of result files of tna-bench, complete in itself. Called by `tna-bench report`."""

import argparse
import sys
from pathlib import Path

EXIT_FAILURE = 1
EXIT_NOT_SUPPORTED = 4

sys.dont_write_bytecode = True
try:
    import jinja2
    import findings
    import plots
    import results
except ImportError as error:
    print(f"tna-bench: {error}: apt-get install python3-matplotlib python3-jinja2", file=sys.stderr)
    sys.exit(EXIT_NOT_SUPPORTED)


def spread(summary, digits=2):
    if summary is None:
        return "-"
    low, high = summary["quartiles"]
    return f"{summary['median']:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def where(result):
    machine = result.document["machine"]
    return (f"{result.name}: kernel {machine.get('kernel', '?')}, {machine.get('cpus', '?')} × "
            f"{machine.get('cpu', '?')}, load before: {machine.get('load_before', '?')}")


def section(result, heading, found, **more):
    return {"heading": heading, "where": where(result), "found": found, "doubts": findings.doubts(result),
            "pictures": [], "columns": [], "rows": []} | more


def curves(result, loads):
    """Rates over each property of which there are several, the others being the same."""
    pictures = []
    for place, (key, usual, _, label) in enumerate(findings.AXES):
        least = 2 if key == "cpus" else 3
        for rest in dict.fromkeys(load[:place] + load[place + 1:] for load in loads):
            series = [one for one in result.series if one.get(key, usual) != "imix" and
                      (load := findings.key_of(one))[:place] + load[place + 1:] == rest]
            if len({one.get(key, usual) for one in series}) >= least:
                pictures.append(plots.scaling(series, key, label, f"Over {label}, {findings.load_of(series[0], key)}",
                                              key != "cpus"))
    return pictures


def throughput(result):
    pictures = []
    loads = list(dict.fromkeys(findings.key_of(one) for one in result.series))
    for load in loads:
        series = [one for one in result.series if findings.key_of(one) == load]
        if any(one["mpps"] for one in series):
            pictures.append(plots.throughput_bars(series, findings.load_of(series[0])))
    pictures += curves(result, loads)
    rows = [[one["contender"], findings.load_of(one), spread(one["x_ceiling"]), spread(one["x_linux"]),
             spread(one["mpps"]), spread(one.get("ns_per_frame"), 0), spread(one.get("hop_ns"), 0),
             f"{sum(turn['sent'] for turn in one['rounds']):,}", f"{sum(turn['lost'] for turn in one['rounds']):,}",
             one["cores"], one["tcp"]]
            for one in result.series]
    return section(result, f"Throughput: {result.scenario}",
                   findings.of_throughput(result), pictures=pictures, rows=rows,
                   columns=["", "load", "× ceiling", "× Linux", "Mpps", "ns/frame", "hop ns", "sent",
                            "lost", "cores", "TCP"])


def latency(result):
    pictures = []
    for load in sorted({one["load_percent"] for one in result.series}):
        series = [one for one in result.series if one["load_percent"] == load and one["sent"]]
        if series:
            rate = f"{series[0]['wanted_mpps']:.3f} Mpps, {load} % of what {result.document['slowest']} carries"
            pictures += [plots.latency_percentiles(series, rate), plots.latency_distribution(series, rate)]
    microseconds = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "jitter_ns"]
    rows = [[one["contender"], f"{one['load_percent']} %"] + [f"{one[field] / 1000:,.2f}" for field in microseconds] +
            [f"{one['sent']:,}", f"{one['lost']:,}"] for one in result.series]
    return section(result, f"{'Round trips' if result.document['options']['round_trip'] else 'Latency'}: {result.scenario}, {findings.size_text(result.document['options'].get('frame_size', '?'))}",
                   findings.of_latency(result), pictures=pictures, rows=rows,
                   columns=["", "load", "p50 µs", "p90", "p99", "p99.9", "max", "p99 - p50", "sent", "lost"])


def rfc2544(result):
    shown = [one for one in result.series if one["mpps"] and not one["not_measured"]]
    size = findings.size_text(result.document["options"].get("frame_size", "?"))
    loss = f"loss of up to {result.document['options']['loss_percent']:g} %"
    rows = [[one["contender"], spread(one["x_ceiling"]), spread(one["x_linux"]), spread(one["mpps"]),
             sum(len(turn["trials"]) for turn in one["rounds"]), one["cores"], one["tcp"]] for one in result.series]
    return section(result, f"RFC 2544 throughput: {result.scenario}, {size}", findings.of_rfc2544(result), rows=rows,
                   pictures=[plots.throughput_bars(shown, loss)] if shown else [],
                   columns=["", "× ceiling", "× Linux", "Mpps", "trials", "cores", "TCP"])


def change(result):
    def times(summary):
        if not summary:
            return ["-"] * 3
        return [f"{summary[field] * 1000:.3f}" for field in ("median_s", "p99_s", "max_s")]
    rows = [[one["contender"], one["change"], *times(one["closed"]), *times(one["opened"])] for one in result.series]
    return section(result, "How soon a change holds", findings.of_change(result), rows=rows,
                   columns=["", "change", "closed: p50 ms", "p99", "max", "open: p50 ms", "p99", "max"])


def kill(result):
    return section(result, "SIGKILL under load", findings.of_kill(result))


def reaction(result):
    return section(result, "Reaction and rest of the daemon", findings.of_reaction(result))


def micro(result):
    rows = [[one["module"], one["profile"], one["instructions"], one["jited_bytes"], spread(one["ns"]),
             spread(one["over_empty_ns"]), one["not_timed"] or ""] for one in result.document["rows"]]
    return section(result, "What each module costs", findings.of_micro(result), rows=rows,
                   columns=["", "profile", "instructions", "bytes", "ns/frame", "over empty", ""])


CONTAINERS = (("requests_per_second", "TCP, request and answer of 1 byte", 1e3, "k/s"),
              ("bits_per_second", "TCP, one direction", 1e9, "Gbit/s"),
              ("datagrams_per_second", "UDP, 64 bytes", 1e3, "k/s"))


def containers(result):
    linux, tna = result.series
    rows = [[words, f"{linux[kind]['median'] / scale:.2f}", f"{tna[kind]['median'] / scale:.2f}", unit,
             spread(tna["x_linux"][kind])] for kind, words, scale, unit in CONTAINERS if tna[kind]]
    return section(result, "Sockets of containers", findings.of_containers(result), rows=rows,
                   columns=["", "linux", "tna", "", "× Linux"])


def study(of):
    """Studies need more packages than the rest, and make more than one section."""
    def made(result):
        try:
            from studies import pages
        except ImportError as error:
            raise results.BadResult(f"'{result.name}' needs more to be shown: {error}: apt-get install python3-sklearn "
                                    "python3-scipy python3-seaborn") from error
        return getattr(pages, of)(result, section)
    return made


SECTIONS = {"throughput": throughput, "rfc2544": rfc2544, "latency": latency, "kill": kill, "reaction": reaction,
            "change": change, "containers": containers, "micro": micro, "delays": study("of_delays"),
            "tenants": study("of_tenants"), "functions": study("of_functions")}


def comparisons(all_results):
    """Each throughput result with the first one of the same scenario."""
    first = {}
    for result in (one for one in all_results if one.command == "throughput"):
        base = first.setdefault(result.scenario, result)
        rows = findings.compared(base, result) if base is not result else []
        if rows:
            yield section(result, f"{result.name} compared with {base.name}", [], rows=rows, doubts=[],
                          columns=["", "load", f"× ceiling, {base.name}", f"× ceiling, {result.name}", ""])


def render(all_results, title):
    sections = []
    for result in all_results:
        with results.whole(result.name):
            made = SECTIONS[result.command](result)
            sections += made if isinstance(made, list) else [made]
    sections += comparisons(all_results)
    loader = jinja2.FileSystemLoader(Path(__file__).resolve().parent)
    page = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("page.html")
    return page.render(title=title, sections=sections)


def main():
    parser = argparse.ArgumentParser(prog="tna-bench report", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULT", help="a file written by tna-bench COMMAND --json")
    parser.add_argument("--output", default="tna-bench.html", help="the page (default: %(default)s)")
    parser.add_argument("--title", default="tna-bench", help="its title")
    arguments = parser.parse_args()
    try:
        page = render([results.read(path) for path in arguments.results], arguments.title)
        Path(arguments.output).write_text(page, encoding="utf-8")
    except results.BadResult as problem:
        print(f"tna-bench: {problem}", file=sys.stderr)
        return EXIT_FAILURE
    except OSError as problem:
        print(f"tna-bench: cannot write '{arguments.output}': {problem.strerror}", file=sys.stderr)
        return EXIT_FAILURE
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
