"""What a trainer may use of the doctor: the one module that `ups` imports. Each name is loaded where it is first used.

A rank of a training starts in a fraction of the time that all of the doctor takes to import; `from diagnostics.api
import DoctorError` loads the errors and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnostics.argument_types import PathArgument
    from diagnostics.cache.scan.engine import scan
    from diagnostics.cache.scan.result import ScanResult
    from diagnostics.cli import guarded, leave
    from diagnostics.command_folder import CommandFolder
    from diagnostics.core.errors import DoctorError, UsageError, from_os_error
    from diagnostics.core.findings import Finding, Severity, Verdict
    from diagnostics.core.strict_yaml import Located, Range, build, load
    from diagnostics.imports import without_garbage_collection
    from diagnostics.machine.host.free_space import free_space
    from diagnostics.preflight.setup import check
    from diagnostics.supervisor.supervise import WatchOptions, watch

__all__ = [
    "CommandFolder",
    "DoctorError",
    "Finding",
    "Located",
    "PathArgument",
    "Range",
    "ScanResult",
    "Severity",
    "UsageError",
    "Verdict",
    "WatchOptions",
    "build",
    "check",
    "free_space",
    "from_os_error",
    "guarded",
    "leave",
    "load",
    "scan",
    "watch",
    "without_garbage_collection",
]

_HOMES = {
    "diagnostics.cache.scan.engine": ("scan",),
    "diagnostics.cache.scan.result": ("ScanResult",),
    "diagnostics.argument_types": ("PathArgument",),
    "diagnostics.cli": ("guarded", "leave"),
    "diagnostics.command_folder": ("CommandFolder",),
    "diagnostics.core.errors": ("DoctorError", "UsageError", "from_os_error"),
    "diagnostics.core.findings": ("Finding", "Severity", "Verdict"),
    "diagnostics.imports": ("without_garbage_collection",),
    "diagnostics.preflight.setup": ("check",),
    "diagnostics.machine.host.free_space": ("free_space",),
    "diagnostics.core.strict_yaml": ("Located", "Range", "build", "load"),
    "diagnostics.supervisor.supervise": ("WatchOptions", "watch"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
