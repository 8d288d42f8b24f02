# SPDX-License-Identifier: Apache-2.0
"""What the page of `tna-bench report` says of studies. `section` makes an entry of the page."""

from studies import delays, function_pictures, functions, pictures, tenants


def _analysis(result, study):
    return result.document.get("analysis") or study.analyse(result.document)


def _finding_rows(analysis):
    return [[one["finding"], one["verdict"], one["why"]] for one in analysis["findings"]]


def _missing(document):
    return [f"Missing: {one['setting']}: {one['reason']}." for one in document["missing"]] + (
        [] if document["complete"] else ["It was interrupted: part of it was not measured."])


def of_delays(result, section):
    document, analysis = result.document, _analysis(result, delays)
    made = [section(result, "Round trips by AF_XDP", delays.sentences(analysis), pictures=[
        pictures.explained(analysis["explained"], delays.WORDS)] if analysis["explained"] else [])]
    made[0]["doubts"] += _missing(document)
    made.append(section(result, "Findings of the paper on delays in AF_XDP", [], doubts=[],
                        columns=["finding", "", "here"], rows=_finding_rows(analysis)))
    for one in analysis["intervals"]:
        shown = [row for row in one["rows"] if "mean_ns" in row]

        def runs_of(settings, interval=one["interval"]):
            return [run for series in document["series"] if series["interval"] == interval and not series["again"]
                    and series["settings"] == settings for run in series["runs"] if run.get("quantiles_ns")]
        picture = [pictures.delays_density(shown, runs_of, "The best configurations")] if shown else []
        made.append(section(result, f"Clusters {delays.at(one['interval'])}", [], doubts=[], pictures=picture,
                            columns=["", "members", "mean", "SD", "always"], rows=delays.cluster_rows(one)))
        made.append(section(result, f"Configurations {delays.at(one['interval'])}", [], doubts=[],
                            columns=["", "cluster", "mean", "median", "SD", "Q1", "Q3", ""],
                            rows=delays.configuration_rows(one, analysis["factors"])))
    return made


def of_tenants(result, section):
    document, analysis = result.document, _analysis(result, tenants)
    drawn = [pictures.boxes(document, size, metric) for size in document["options"]["sizes"] for metric in tenants.METRICS]
    drawn.append(pictures.heat_maps(analysis["correlations"]))
    other = document.get("machine_under_test")
    where = [] if not other else [f"Another machine drops and has the tenants: kernel {other['kernel']}, {other['cpus']} x "
                                  f"{other['cpu']}."]
    made = [section(result, "Beside busy tenants", where + tenants.sentences(analysis), pictures=[one for one in drawn if one],
                    doubts=_missing(document))]
    made.append(section(result, "Findings of the paper on busy tenants", [], doubts=[],
                        columns=["finding", "", "here"], rows=_finding_rows(analysis)))
    made.append(section(result, "Throughput and loss beside tenants", [], doubts=[], columns=tenants.COLUMNS,
                        rows=tenants.case_rows(document)))
    return made


def of_functions(result, section):
    document, analysis = result.document, _analysis(result, functions)
    made = [section(result, "User space and the kernel", functions.sentences(analysis),
                    pictures=function_pictures.all_of(analysis), doubts=_missing(document))]
    made.append(section(result, "Findings of the paper on user space and the kernel", [], doubts=[],
                        columns=["finding", "", "here"], rows=_finding_rows(analysis)))
    made.append(section(result, "Throughput and processors of functions", [], doubts=[], columns=functions.COLUMNS,
                        rows=functions.rows_of(analysis)))
    return made
