"""Captures model, constructor arguments and one batch from a script's run, and ends the run then.

Only where $UPS_DOCTOR_CAPTURE names a folder: such a run is no training, it may be ended. What lies in that folder
afterwards is told in children/trial_models/captured.py; each process writes into a folder of its own below it,
`PID/STAGE/`, where STAGE is construct, wrap or call: how far the run came.
"""

from __future__ import annotations

import os

FOLDER_VARIABLE = "UPS_DOCTOR_CAPTURE"
BYTES_VARIABLE = "UPS_DOCTOR_CAPTURE_BYTES"  # of tensors whose values are kept, in each part
DEFAULT_BYTES = 256 << 20


def watch(agent):
    """Starts capturing in this process; torch.nn is imported."""
    from .hooks import place_hooks
    from .stages import Capture

    limit = int(os.environ.get(BYTES_VARIABLE) or DEFAULT_BYTES)
    capture = Capture(os.environ[FOLDER_VARIABLE], limit)
    agent.at_fork.append(capture.forked)
    place_hooks(capture)
