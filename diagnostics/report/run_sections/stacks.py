"""Where the ranks stood; ranks that stood at the same place share one stack."""

from __future__ import annotations

from diagnostics.core.markdown import block, inline
from diagnostics.report.headline import ranks_in_words
from diagnostics.report.run_report import RunReport, StackGroup

ORDER = 30
TITLE = "Stacks"

SHOWN_GROUPS = 6
SHOWN_FRAMES = 20


def render(report: RunReport) -> list[str]:
    """Returns one block a group, the innermost frame first."""
    lines = [line for group in report.stacks[:SHOWN_GROUPS] for line in _group(group)]
    hidden = len(report.stacks) - SHOWN_GROUPS
    return [*lines, f"{hidden} more groups stand in report.json."] if hidden > 0 else lines[:-1]


def _group(group: StackGroup) -> list[str]:
    frames = list(group.frames[:SHOWN_FRAMES])
    if len(group.frames) > SHOWN_FRAMES:
        frames.append(f"... {len(group.frames) - SHOWN_FRAMES} more")
    return [
        f"{ranks_in_words(group.ranks).capitalize()} ({inline(group.captured)}), innermost first:",
        "",
        *block(frames),
        "",
    ]
