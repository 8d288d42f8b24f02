# SPDX-License-Identifier: Apache-2.0
"""Statistics of the studies: delays and tenants."""
