# SPDX-License-Identifier: Apache-2.0
"""Times and tables as people read them."""


def micro(nanoseconds):
    return f"{nanoseconds / 1000:,.2f} µs" if nanoseconds < 1e6 else f"{nanoseconds / 1e6:,.2f} ms"


def table(columns, rows):
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [columns, *rows])
