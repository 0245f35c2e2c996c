"""One page about a run over several hosts; a long list of ranks is folded by host and end."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from diagnostics.cluster.verdict import ClusterVerdict, RankOfHost
from diagnostics.core import redaction
from diagnostics.core.findings import to_json
from diagnostics.core.markdown import code, inline, page, table
from diagnostics.core.wording import shown_ranks

MOST_ROWS = 40


def json_value(found: ClusterVerdict) -> dict[str, Any]:
    """Returns the verdict as plain JSON, secrets hidden."""
    hidden: dict[str, Any] = redaction.json_value({"schema": 1, "kind": "cluster", **to_json(found)})
    return hidden


def summary(found: ClusterVerdict) -> list[str]:
    """Returns the last lines on a terminal."""
    head = found.words if found.outcome == "ok" else f"{found.outcome.upper()}  {found.words}"
    lines = [
        head,
        *([f"  at {found.location}"] if found.location else []),
        *([f"  fix: {found.fix}"] if found.fix else []),
    ]
    lines += [f"  {note}" for note in found.notes]
    if found.silent or found.missing_ranks:
        told = ", ".join([*found.silent, *([shown_ranks(found.missing_ranks)] if found.missing_ranks else [])])
        lines.append(f"  no report from: {told}")
    seen = len({row.rank for row in found.ranks})
    lines.append(f"{_hosts(found)}, {seen} of {found.world_size or seen} ranks reported")
    return [redaction.line(line) for line in lines]


def markdown(found: ClusterVerdict) -> str:
    """Returns the page."""
    name = f"Run {found.run_id}" if found.run_id else "Run"
    lines = [f"# {name} over {_hosts(found)}: {found.outcome}", "", inline(found.words), ""]
    if found.location:
        lines += [f"Look at {code(found.location)} first ({found.confidence}).", ""]
    if found.fix:
        lines += [f"Fix: {inline(found.fix)}", ""]
    lines += [f"- {inline(note)}" for note in found.notes]
    lines += ["", "## Ranks", ""]
    shown = [(str(row.rank), row) for row in found.ranks] if len(found.ranks) <= MOST_ROWS else _folded(found)
    head = ("rank", "host", "role", "end", "last collective")
    lines += table(head, [(name, inline(row.host), row.role, inline(row.ended), inline(row.last_collective))
                          for name, row in shown[:MOST_ROWS]])  # fmt: skip
    lines += [f"... and {len(shown) - MOST_ROWS} more lines"] if len(shown) > MOST_ROWS else []
    if found.silent or found.missing_ranks:
        gone = shown_ranks(found.missing_ranks) if len(found.missing_ranks) else "their ranks"
        lines += ["", f"No report came from {inline(', '.join(found.silent) or 'their hosts')} ({gone})."]
    lines += ["", "## Each host's own page", "", *(f"- {inline(path)}" for path in found.reports[:MOST_ROWS])]
    return page(lines)


def _hosts(found: ClusterVerdict) -> str:
    return f"{len(found.hosts)} host{'s' * (len(found.hosts) != 1)}"


def _folded(found: ClusterVerdict) -> list[tuple[str, RankOfHost]]:
    """Returns culprits one by one, then the others by what they ended of."""
    groups: dict[tuple[str, str], list[RankOfHost]] = defaultdict(list)
    for row in found.ranks:
        if row.role != "culprit":
            groups[row.role, row.ended.partition(" after ")[0]].append(row)
    single = [(str(row.rank), row) for row in found.ranks if row.role == "culprit"]
    return single + [(f"{len(members)} ranks, {members[0].rank} to {members[-1].rank}", members[0])
                     for members in groups.values()]  # fmt: skip
