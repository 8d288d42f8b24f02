# SPDX-License-Identifier: Apache-2.0
"""Statistics of the studies: delays and tenants."""

import os

# There is too little to be reckoned for more than one thread.
for _library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
