#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What statistics say about the document of a study: main.py DOCUMENT ANSWER. Called by `tna-bench`."""

import json
import sys
from pathlib import Path

EXIT_NOT_SUPPORTED = 4

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
try:
    from studies import delays, functions, tenants
except ImportError as error:
    print(f"{error}: apt-get install python3-sklearn python3-scipy python3-seaborn")
    sys.exit(EXIT_NOT_SUPPORTED)

STUDIES = {"delays": delays, "functions": functions, "tenants": tenants}


def main():
    source, answer = sys.argv[1:]
    document = json.loads(Path(source).read_text(encoding="utf-8"))
    study = STUDIES[document["command"]]
    analysis = study.analyse(document)
    text = json.dumps({"analysis": analysis, "text": study.text(document, analysis)}, allow_nan=False)
    Path(answer).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
