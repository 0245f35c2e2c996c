"""The memory limit of a rank."""

import re
import resource
from pathlib import Path


def limit(limit_bytes, device):
    """Lets this process take so many bytes more than it has now; beyond, allocations are refused.

    Private memory that can be written: libraries and reserved addresses do not count, which is why CUDA, that maps
    all of the device's memory, is left without a limit.
    """
    if limit_bytes and not device.startswith("cuda"):
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + limit_bytes, resource.RLIM_INFINITY))


def data_bytes():
    """Returns what counts for the limit now."""
    found = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0
