"""The machine that an experiment ran on: latencies belong to it, and sums in other orders differ."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from goodgain.cores import available_cores


def machine_facts() -> dict[str, Any]:
    """CPU, cores, memory, the library for linear algebra, and how busy the machine is; no names."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": available_cores(),
        "memory": _memory(),
        "blas": _blas(),
        "load": [round(each, 2) for each in os.getloadavg()[:2]]
        if hasattr(os, "getloadavg")
        else [],
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _blas() -> list[dict[str, Any]]:
    """The libraries that compute sums, with their versions and kernels, where threadpoolctl can tell."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    names = ("internal_api", "version", "architecture", "num_threads")
    return [{name: info[name] for name in names if name in info} for info in threadpool_info()]
