"""Where the doctor's own files lie: the programs that it starts and the agent that it takes along."""

from __future__ import annotations

from pathlib import Path

import diagnostics

DOCTOR = Path(diagnostics.__file__).resolve().parent
AGENT = DOCTOR / "agent"
CHILDREN = DOCTOR / "children"
