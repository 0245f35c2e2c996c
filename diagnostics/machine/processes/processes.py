"""The process table, through psutil."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import psutil

from diagnostics.machine.facts import ProcessInfo
from diagnostics.machine.processes.descendants import all_stats, descendants

# What launchers hand to ranks; the rest of an environment may hold secrets and is not read out.
LAUNCHER_VARIABLES = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "UPS_DOCTOR_CHILD",
)
_FIELDS = ("pid", "ppid", "username", "cmdline", "cwd", "create_time", "status", "environ")


class SystemProcesses:
    """The Processes provider. Fields that may not be read are empty."""

    def table(self) -> tuple[ProcessInfo, ...]:
        """Returns every living process, ordered by pid."""
        found = psutil.process_iter(_FIELDS, ad_value=None)
        return tuple(_process(item.info) for item in found if item.info["status"] != psutil.STATUS_ZOMBIE)

    def find(self, pid: int) -> ProcessInfo | None:
        """Returns one process, None where it is gone."""
        try:
            info = psutil.Process(pid).as_dict(_FIELDS, ad_value=None)
        except psutil.NoSuchProcess:
            return None
        return None if info["status"] == psutil.STATUS_ZOMBIE else _process(info)

    def own_family(self) -> frozenset[int]:
        """Returns the pids of this process, its ancestors and its descendants."""
        own = os.getpid()
        stats = all_stats()
        line, pid = {own}, own
        while pid in stats and stats[pid].ppid not in line:
            pid = stats[pid].ppid
            line.add(pid)
        return frozenset(line | descendants(own, stats))


def _process(info: Mapping[str, object]) -> ProcessInfo:
    argv = info["cmdline"]
    environ = info["environ"]
    return ProcessInfo(
        pid=int(str(info["pid"])),
        ppid=int(str(info["ppid"] or 0)),
        user=str(info["username"] or ""),
        argv=tuple(map(str, argv)) if isinstance(argv, Iterable) else (),
        cwd=str(info["cwd"] or ""),
        started=float(str(info["create_time"] or 0.0)),
        variables=_launcher_variables(environ) if isinstance(environ, Mapping) else {},
    )


def _launcher_variables(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in LAUNCHER_VARIABLES if name in environ}
