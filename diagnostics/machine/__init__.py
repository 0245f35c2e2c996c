"""The only code of the doctor that touches the machine."""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError

__all__ = ["Machine", "MachineError"]
