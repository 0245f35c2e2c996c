"""The answer to one request: the table, and for the first step that differs what the gradients are made of."""

from . import distances, relations, rows
from .records import runs_of


def compare(request):
    """Returns what `diagnostics/parity/measured.py` reads."""
    runs = runs_of(request["folder"])
    ranks, one = runs["ranks"], runs["one"]
    tolerance, floor = request["tolerance"], request["floor"]
    answer = {
        "world": ranks.world,
        "steps": min(ranks.steps, one.steps),
        "parameters": len(ranks.names()),
        "facts": _facts(ranks),
        "draws_for_whole_batches": bool(one.facts[0].get("draws_for_whole_batches")),
        "rows": rows.compared(ranks, one, tolerance, floor),
        "start": _start(ranks, floor),
        "passes": rows.passes(ranks),
    }
    if answer["steps"]:
        answer["lines"] = _lines(ranks)
        answer["by_step"] = [relations.of_step(runs, step, tolerance, floor) for step in range(answer["steps"])]
    for name in ("again", "by-share"):
        if name in runs:
            other = one if name == "again" else ranks
            answer[name] = rows.compared(other, runs[name], tolerance, floor)
    return answer


def _facts(ranks):
    kept = ("kinds", "class", "wrapper", "backend", "group", "draws_cut", "compiled")
    return {name: ranks.facts[0][name] for name in kept if name in ranks.facts[0]}


def _start(ranks, floor):
    """Returns how far the ranks are apart before the first step; shards are no copies."""
    worst = {"difference": 0.0, "rank": 0, "name": "", "values": []}
    if ranks.sharded:
        return worst
    first = ranks.whole([ranks.start(rank)["parameters"] for rank in range(ranks.world)], 0)
    for rank in range(1, ranks.world):
        other = ranks.whole([ranks.start(one)["parameters"] for one in range(ranks.world)], rank)
        found = distances.largest(first, other, ranks.names(), floor)
        if found["difference"] > worst["difference"]:
            worst = {**found, "rank": rank}
    return worst


def _lines(ranks):
    step = ranks.step(0, 0)
    return {
        "step": step["line"],
        "backward": [one["line"] for one in step["losses"]],
        "clip": [one["line"] for one in step["clips"]],
    }
