"""What autograd says where a step reaches the graph of the step before. No inspection."""

from __future__ import annotations

from diagnostics.inspection.observations import StepError

SIGN = "backward through the graph a second time"


def is_kept_graph(error: StepError | None) -> bool:
    """Whether this is autograd's word for a graph that is gone."""
    return error is not None and error.phase == "backward" and SIGN in error.text
