# SPDX-License-Identifier: Apache-2.0
"""tnad beside the soak's network, and what it uses."""

import ctypes
import http.client
import json
import os
import platform
import re
import signal
import socket
import subprocess
import time

from world import Failure, die_with_parent, libc, run


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("tna", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def numbers(text, name):
    """Of the lines "NAME: NUMBER" of a file of /proc."""
    return [int(found) for found in re.findall(rf"^{name}:\s+(\d+)", text, re.M)]


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:  # a descriptor that was closed meanwhile
        return ""


SYS_BPF = 321 if platform.machine() == "x86_64" else 280
NEXT_ID = {"prog": 11, "map": 12, "link": 31}


def exists(kind, number):
    """Asks for ids, not for descriptors: one of a program array that is just being emptied may keep it for ever."""
    attributes = (ctypes.c_uint32 * 4)(number - 1)
    return libc.syscall(SYS_BPF, NEXT_ID[kind], attributes, ctypes.sizeof(attributes)) == 0 and attributes[1] == number


class Daemon:
    def __init__(self, build, namespace, folder):
        self.build, self.namespace, self.folder = build, namespace, folder
        self.socket, self.log = f"{folder}/socket", f"{folder}/tnad.log"
        self.objects = {"prog": set(), "map": set(), "link": set()}
        self.write_config()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                namespace.command(f"{build}/controller/daemon/tnad", "--config", f"{folder}/conf", "--socket",
                                  self.socket, "--log-level", "warning"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def write_config(self, exclude=""):
        with open(f"{self.folder}/conf", "w", encoding="ascii") as file:
            file.write(f'[ports]\nexclude_kinds = []\nexclude = [{exclude}]\n[modules]\ndirectory = ""\n')

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def get(self, path):
        if self.process.poll() is not None:
            raise Failure(f"tnad has ended ({self.process.returncode}): {read(self.log)[-2000:]}")
        connection = OverSocket(self.socket)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise Failure(f"tnad answers {answer.status} to {path}")
        return json.loads(body) if path.startswith("/v1") else body

    def ctl(self, *words, check=True):
        return run(f"{self.build}/tools/tnactl/tnactl", "--socket", self.socket, *words, check=check)

    def states(self):
        try:
            return {port["name"]: port["state"] for port in self.get("/v1/status")["ports"]}
        except OSError:  # it does not listen yet
            return {}

    def wait_accelerated(self, ports, patience=30):
        """How long that took."""
        began = time.monotonic()
        while True:
            states = self.states()
            if all(states.get(port) == "accelerated" for port in ports):
                return time.monotonic() - began
            if time.monotonic() > began + patience:
                raise Failure(f"after {patience} s not all ports are accelerated: {states}\n" +
                              "\n".join(f"{port['name']}: {port['why']}" for port in self.get("/v1/status")["ports"]
                                        if port["state"] != "accelerated"))
            time.sleep(0.002)

    def usage(self):
        """Memory, threads, descriptors, and what it holds in the kernel."""
        process = f"/proc/{self.process.pid}"
        status = read(f"{process}/status")
        found = {"rss_kib": numbers(status, "VmRSS")[0], "threads": numbers(status, "Threads")[0], "descriptors": 0,
                 "memlock_kib": 0}
        held = {kind: set() for kind in self.objects}
        for name in os.listdir(f"{process}/fdinfo"):
            text = read(f"{process}/fdinfo/{name}")
            found["descriptors"] += 1
            ids = {kind: numbers(text, f"{kind}_id") for kind in held}
            for kind, those in ids.items():
                # A link's descriptor names its program as well, which is somebody else's descriptor or nobody's.
                new = those and those[0] not in held[kind]
                held[kind].update(those)
                if new and kind != "link":
                    found["memlock_kib"] += sum(numbers(text, "memlock")) // 1024
        for kind, ids in held.items():
            found[f"{kind}s"] = len(ids)
            self.objects[kind] |= ids
        return found

    def stop(self):
        """Ends it in order; what it leaves behind, after a while."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("tnad does not end") from None
        if code != 0:
            raise Failure(f"tnad ended with {code}: {read(self.log)[-2000:]}")
        deadline = time.monotonic() + 20
        while left := self.left_behind():
            if time.monotonic() > deadline:
                raise Failure(f"tnad has ended and left behind {', '.join(sorted(left))}")
            time.sleep(0.2)

    def left_behind(self):
        return {f"{kind} {number}" for kind, ids in self.objects.items() for number in ids if exists(kind, number)}

    def kill(self):
        self.process.kill()
        self.process.wait()
