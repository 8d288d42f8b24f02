# SPDX-License-Identifier: Apache-2.0
"""Result files of tna-bench: reading them, and refusing what is not one."""

import json
import os
import select
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# The version of each command's document that this program understands.
VERSIONS = {"throughput": 4, "rfc2544": 2, "latency": 4, "change": 1, "kill": 2, "reaction": 2, "micro": 2,
            "containers": 1, "delays": 1, "tenants": 1, "functions": 2}


MOST_BYTES = 1 << 30
PATIENCE_S = 10


class BadResult(Exception):
    """A sentence for people: which file, what is wrong with it, what to do."""


@contextmanager
def whole(path):
    """What is done with a document as if nothing of it could be missing."""
    try:
        yield
    except KeyError as error:
        raise BadResult(f"'{path}' lacks {error}: it is damaged, measure again") from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadResult(f"'{path}' is damaged ({error}): measure again") from error


@dataclass
class Result:
    name: str
    document: dict

    @property
    def command(self):
        return self.document["command"]

    @property
    def series(self):
        return self.document["series"]

    @property
    def scenario(self):
        return self.document["options"].get("scenario", "bridge")


def bytes_of(path):
    """What a file or a pipe holds; nothing that has no end."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise BadResult(f"'{path}' is no file: name a file")
        if stat.S_ISFIFO(mode) and not select.select([file], [], [], PATIENCE_S)[0]:
            raise BadResult(f"nothing comes out of '{path}', a pipe: does somebody write into it?")
        os.set_blocking(file.fileno(), True)
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise BadResult(f"'{path}' is larger than {MOST_BYTES >> 20} MiB: is it the right file?")
    return content


def read(path):
    path = Path(path)
    try:
        document = json.loads(bytes_of(path).decode("utf-8"))
    except OSError as error:
        raise BadResult(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadResult(f"'{path}' is no result file: it is not text") from error
    except json.JSONDecodeError as error:
        raise BadResult(
            f"'{path}' is no whole result file: line {error.lineno}: {error.msg}; "
            "write it with: tna-bench COMMAND --json > FILE"
        ) from error
    command = document.get("command") if isinstance(document, dict) else None
    if command not in VERSIONS:
        raise BadResult(f"'{path}' is no result of tna-bench: it names none of {', '.join(VERSIONS)}")
    if document.get("version") != VERSIONS[command]:
        raise BadResult(
            f"'{path}' has version {document.get('version')} of the results of '{command}', "
            f"this program reads version {VERSIONS[command]}: measure again"
        )
    return Result(path.name, document)

