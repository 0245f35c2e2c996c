"""`ladder`: the sizes that this configuration's models can be built in, smallest first; imports no torch.

Prints {"models": {"operator": [{"name": "depths [1]", "overrides": ["operator.depths=[1]"]}, ...], ...}}.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from ups.doctor_job.request import Request
from ups.ladder import ladders


def answer(request: Request) -> None:
    """Prints the rungs of each model."""
    models = {name: [asdict(rung) for rung in rungs] for name, rungs in ladders(request.config).items()}
    print(json.dumps({"models": models}))  # noqa: T201
