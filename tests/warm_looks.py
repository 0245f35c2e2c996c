"""A fork takes the command line and the environment that /proc shows of it: those of the program that it has become."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

PR_SET_MM, PR_SET_MM_MAP = 35, 14
# Of /proc/self/stat, counted from 1 (proc_pid_stat(5)), by their names in struct prctl_mm_map.
FIELDS = {"start_code": 26, "end_code": 27, "start_stack": 28, "start_data": 45, "end_data": 46, "start_brk": 47}
_kept: list[object] = []  # the memory that the kernel reads from


class MemoryMap(ctypes.Structure):
    """struct prctl_mm_map of linux/prctl.h."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("start_code", "end_code", "start_data", "end_data", "start_brk", "brk")),
        *((name, ctypes.c_uint64) for name in ("start_stack", "arg_start", "arg_end", "env_start", "env_end", "auxv")),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_int32),
    )


def look_like(argv: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Has /proc show `argv` and `environ` as those of this process; False where the kernel has no such call."""
    words = b"".join(os.fsencode(word) + b"\0" for word in argv)
    variables = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environ.items())
    memory = ctypes.create_string_buffer(words + variables, len(words) + len(variables))
    begin = ctypes.addressof(memory)
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    libc = ctypes.CDLL(None)
    libc.sbrk.restype = ctypes.c_void_p
    as_it_is = {name: int(stat[number - 3]) for name, number in FIELDS.items()}
    wanted = MemoryMap(
        **as_it_is, brk=libc.sbrk(0), arg_start=begin, arg_end=begin + len(words), env_start=begin + len(words),
        env_end=begin + len(words) + len(variables), exe_fd=-1,
    )  # fmt: skip
    if libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(wanted), ctypes.c_ulong(ctypes.sizeof(wanted)), 0):
        return False
    _kept.append(memory)
    return True
