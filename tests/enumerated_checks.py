# SPDX-License-Identifier: Apache-2.0
"""Every COLLECT and BECAUSE of the fast path, for tests/mutate --all: where it is, and which tests ought to notice that it is
gone."""

import re
from pathlib import Path

# A whole call begins its statement; definitions and other macros that are made of these do not.
CALL = re.compile(r"^[ \t]+(?P<call>(?:COLLECT|BECAUSE)\()", re.M)
NOTHING = "do {} while (0);"  # also behind an `if` without braces


def end_of_statement(text, opening):
    """Behind the semicolon of the call whose opening parenthesis is there."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text.index(";", at) + 1
    raise ValueError("a parenthesis is not closed")


def calls(text):
    """(begin, end) of each call in a file's text, definitions of macros left out."""
    found = []
    for match in CALL.finditer(text):
        before = text[:match.start()]
        if before.rstrip(" \t").endswith("\\\n"):
            continue  # within a #define
        begin = match.start("call")
        found.append((begin, end_of_statement(text, match.end("call") - 1)))
    return found


def read_programs(path):
    """Folder -> test programs: the table in which lines are `FOLDER: PROGRAM...`."""
    table = {}
    for line in Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, programs = line.split(":")
            table[folder.strip()] = programs.split()
    return table


def programs_for(file, table):
    """As the table says for the folder; a module that it does not name has its tests in tests/netns/MODULE."""
    for folder in Path(file).parents:
        if str(folder) in table:
            return table[str(folder)]
    return ["netns_" + Path(file).parts[1]]
