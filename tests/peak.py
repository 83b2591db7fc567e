"""How much memory a process of its own took, for scripts that tests hand to an interpreter."""

from __future__ import annotations

PEAK_MB = """
import resource, sys
from pathlib import Path

def peak_mb():
    # On Linux, what getrusage tells begins with the memory of whoever started this process, which may run all tests.
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
"""
