"""The real command, and what starting a job and looking at it look like."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
Start = Callable[..., subprocess.Popen[bytes]]
Look = Callable[..., subprocess.CompletedProcess[str]]
