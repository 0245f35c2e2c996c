"""Names the system call that a thread waits in, as /proc/PID/syscall has it: "0 0x3 0x7ffe... sp pc"."""

from __future__ import annotations

import os
import platform

# number on x86_64, on aarch64 (None: it has none), name
_CALLS: tuple[tuple[int, int | None, str], ...] = (
    (0, 63, "read"), (1, 64, "write"), (7, None, "poll"), (17, 67, "pread64"), (18, 68, "pwrite64"),
    (19, 65, "readv"), (20, 66, "writev"), (23, None, "select"), (34, None, "pause"), (35, 101, "nanosleep"),
    (42, 203, "connect"), (43, 202, "accept"), (44, 206, "sendto"), (45, 207, "recvfrom"), (46, 211, "sendmsg"),
    (47, 212, "recvmsg"), (61, 260, "wait4"), (65, 193, "semop"), (69, 189, "msgsnd"), (70, 188, "msgrcv"),
    (72, 25, "fcntl"), (73, 32, "flock"), (74, 82, "fsync"), (75, 83, "fdatasync"), (2, None, "open"),
    (128, 137, "rt_sigtimedwait"), (130, 133, "rt_sigsuspend"), (162, 81, "sync"), (202, 98, "futex"),
    (220, 192, "semtimedop"), (230, 115, "clock_nanosleep"), (232, None, "epoll_wait"), (242, 182, "mq_timedsend"),
    (243, 183, "mq_timedreceive"), (247, 95, "waitid"), (257, 56, "openat"), (270, 72, "pselect6"),
    (271, 73, "ppoll"), (281, 22, "epoll_pwait"), (288, 242, "accept4"), (295, 69, "preadv"), (299, 243, "recvmmsg"),
    (40, 71, "sendfile"), (4, None, "stat"), (5, 80, "fstat"), (6, None, "lstat"), (262, 79, "newfstatat"),
    (332, 291, "statx"), (16, 29, "ioctl"), (426, 426, "io_uring_enter"), (441, 441, "epoll_pwait2"),
    (449, 449, "futex_waitv"), (58, None, "vfork"), (56, 220, "clone"), (435, 435, "clone3"), (11, 215, "munmap"),
    (26, 227, "msync"), (165, 40, "mount"), (285, 47, "fallocate"),
)  # fmt: skip
# Those whose first argument is a descriptor, a process, or nothing that tells anything.
_BY_DESCRIPTOR = frozenset(
    (
        "read", "write", "pread64", "pwrite64", "readv", "writev", "connect", "accept", "accept4", "sendto", "recvfrom",
        "sendmsg", "recvmsg", "recvmmsg", "fcntl", "flock", "fsync", "fdatasync", "epoll_wait", "epoll_pwait",
        "epoll_pwait2", "mq_timedsend", "mq_timedreceive", "preadv", "sendfile", "fstat", "ioctl", "fallocate",
    )
)  # fmt: skip
_NUMBERED = _BY_DESCRIPTOR | {"wait4", "waitid", "msgrcv", "msgsnd", "semop", "semtimedop"}


def names_of_calls(machine: str = platform.machine()) -> dict[int, str]:
    """Returns {number: name} for the calls that can block, {} on other machines than x86_64 and aarch64."""
    if machine == "x86_64":
        return {number: name for number, _, name in _CALLS}
    if machine in ("aarch64", "arm64"):
        return {number: name for _, number, name in _CALLS if number is not None}
    return {}


_NAMES = names_of_calls()


def describe_call(pid: int, raw: str) -> tuple[str, str]:
    """Returns ("read 0", "/dev/pts/3"): name with its first argument, and what is open behind it; "" for unknown."""
    words = raw.split()
    if not words or not words[0].isdigit():
        return "", ""  # "running", or it may not be read
    name = _NAMES.get(int(words[0]), f"call-{words[0]}")
    if name not in _NUMBERED or len(words) < 2:
        return name, ""
    argument = _int(words[2] if name == "waitid" and len(words) > 2 else words[1])
    opened = _open_file(pid, argument) if name in _BY_DESCRIPTOR else ""
    return f"{name} {argument}", opened


def _int(word: str) -> int:
    """Returns an argument as the 32 bits with a sign that it is."""
    try:
        value = int(word, 16) & 0xFFFFFFFF
    except ValueError:
        return -1
    return value - (1 << 32) if value >> 31 else value


def _open_file(pid: int, descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 - "pipe:[1]" is no path
    except OSError:
        return ""
