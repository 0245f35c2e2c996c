"""Runs argv where ptrace is refused, as the seccomp filter of a container does it; children inherit the filter."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS at offset 0, BPF_JMP|JEQ|K, BPF_RET|K
REFUSE, ALLOW = 0x0005_0001, 0x7FFF_0000  # SECCOMP_RET_ERRNO with EPERM, SECCOMP_RET_ALLOW
PTRACE_AND_PROCESS_VM_READV = {"x86_64": (101, 310), "aarch64": (117, 270)}


def refuse_ptrace() -> None:
    """Installs the filter in this process. Raises OSError where the kernel has none."""
    first, second = PTRACE_AND_PROCESS_VM_READV[platform.machine()]
    lines = (
        (LOAD_NUMBER, 0, 0, 0),
        (IF_EQUAL, 2, 0, first),
        (IF_EQUAL, 1, 0, second),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HP", len(lines), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no seccomp filter here")


if __name__ == "__main__":
    refuse_ptrace()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the same process, under the filter
