#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers echo requests (ping) to addresses that nobody has, as a network function: python3 echo.py NAME

    # /etc/tna/functions.d/echo.toml
    users = ["nobody"]
    ports = ["eth0"]
    [[rule]]
    to = "192.0.2.0/24"
    protocol = "icmp"

Whatever else it gets is given back to Linux."""

import sys

import tna_function

REQUEST = 8


def answer(data):
    """Makes a request its own reply; False: it is none."""
    if bytes(data[12:14]) != b"\x08\x00" or len(data) < 42 or data[14] != 0x45 or data[34] != REQUEST:
        return False
    data[0:6], data[6:12] = bytes(data[6:12]), bytes(data[0:6])
    data[26:30], data[30:34] = bytes(data[30:34]), bytes(data[26:30])
    data[34] = 0
    checksum = int.from_bytes(data[36:38], "big") + (REQUEST << 8)
    data[36:38] = ((checksum & 0xFFFF) + (checksum >> 16)).to_bytes(2, "big")
    return True


def main():
    socket = sys.argv[2] if len(sys.argv) > 2 else None
    with tna_function.Function(sys.argv[1], socket=socket, gives_back=True) as function:
        while True:
            for frame in function.receive():
                if answer(frame.data):
                    function.send(frame, frame.port)
                else:
                    function.give_back(frame)


if __name__ == "__main__":
    main()
