"""The only code of the doctor that touches the machine."""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.machine.this import this_machine

__all__ = ["Machine", "MachineError", "this_machine"]
