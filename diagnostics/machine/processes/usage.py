"""What a process has used since it began, as /proc counts it; -1 where something may not be read."""

from __future__ import annotations

import os

from diagnostics.machine.host.cgroups import ancestors

_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_THREADS = 64


def process_usage(pid: int) -> tuple[int, list[float]] | None:
    """Returns the start ticks and the numbers of record/usage.py's ProcessUsage; None where the process is gone."""
    folder = f"/proc/{pid}"
    stat = _text(f"{folder}/stat")
    if not stat:
        return None
    words = stat[stat.rindex(")") + 2 :].split()
    status, io = _table(f"{folder}/status"), _table(f"{folder}/io")
    delays = {thread: _delay(f"{folder}/task/{thread}/schedstat") for thread in _threads(folder)}
    known = [delay for delay in delays.values() if delay >= 0]
    return int(words[19]), [
        (int(words[11]) + int(words[12])) / _TICKS,
        sum(known) if known else -1.0,
        delays.get(str(pid), -1.0),
        1024 * status["RssAnon"] if "RssAnon" in status else -1.0,
        float(words[9]),
        1024 * status.get("VmSwap", 0.0),
        io["rchar"] + io["wchar"] if "rchar" in io and "wchar" in io else -1.0,
        io["read_bytes"] + io["write_bytes"] if "read_bytes" in io and "write_bytes" in io else -1.0,
        float(words[17]),
    ]


def brief_usage(pid: int) -> tuple[int, float, float] | None:
    """Returns start ticks, seconds of CPU and bytes of its own memory, by two small files; None for a process gone."""
    stat = _text(f"/proc/{pid}/stat")
    if not stat:
        return None
    words = stat[stat.rindex(")") + 2 :].split()
    if words[0] in "ZX":
        return None
    sizes = _text(f"/proc/{pid}/statm").split()
    own = (int(sizes[1]) - int(sizes[2])) * os.sysconf("SC_PAGESIZE") if len(sizes) > 2 else -1.0
    return int(words[19]), (int(words[11]) + int(words[12])) / _TICKS, float(own)


def machine_usage() -> list[float]:
    """Returns the numbers of record/usage.py's MachineUsage."""
    words = _text("/proc/stat").partition("\n")[0].split()[1:]
    ticks = [int(word) / _TICKS for word in words if word.isdigit()]
    if len(ticks) < 8:
        return [-1.0, -1.0, -1.0, _throttled()]
    user, nice, system, idle, waiting, hard, soft, stolen = ticks[:8]
    return [user + nice + system + hard + soft, idle + waiting, stolen, _throttled()]


def _throttled() -> float:
    """Returns for how long this process's control group had to wait for its quota, the innermost that counts it."""
    for controller, name, unit in (("", "throttled_usec", 1e6), ("cpu", "throttled_time", 1e9)):
        for group in ancestors(controller):
            told = dict(line.split()[:2] for line in _text(f"{group}/cpu.stat").splitlines() if len(line.split()) > 1)
            if told.get(name, "").isdigit():
                return int(told[name]) / unit
    return -1.0


def _threads(folder: str) -> list[str]:
    try:
        return os.listdir(f"{folder}/task")[:_MOST_THREADS]  # noqa: PTH208 - names are all we need
    except OSError:
        return []


def _delay(path: str) -> float:
    """Returns how long a thread was ready to run and did not."""
    words = _text(path).split()
    return int(words[1]) / 1e9 if len(words) > 1 and words[1].isdigit() else -1.0


def _table(path: str) -> dict[str, float]:
    """Returns the numbers of "name: number" lines."""
    found = {}
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        word = rest.split()[:1]
        if word and word[0].isdigit():
            found[name] = float(word[0])
    return found


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - read often, and this is faster
            return file.read()
    except OSError:
        return ""
