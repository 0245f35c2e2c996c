"""Findings about ranks that died, failed or got stuck: rank, module, line, and what proves it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Role, Severity
from diagnostics.core.wording import last_lines, shown_ranks
from diagnostics.dynamic.job.last_activity import LastActivity
from diagnostics.dynamic.job.rank_ends import RankOutcome

NO_AGENT = "no agent's file: python -I or -E, or a launcher that resets PYTHONPATH"
SHOWN_FRAMES = 12
MODULE_CALLS = "/torch/nn/modules/module.py"  # two frames a module, which say nothing
VERBS = {"construct": "in the constructor of", "forward": "in the forward of", "backward": "in the backward of"}


def rank_finding(code: str, ends: Sequence[RankOutcome], *, rerun: str, role: Role = Role.ROOT) -> Finding:
    """Returns one finding over ranks that ended alike; `rerun` is the command that repeats it."""
    end = ends[0]
    death = end.death()
    ranks = shown_ranks([one.rank for one in ends])
    (name, how), place = _how(end), _place(death)
    said = f": {end.error}" if name in ("python-exception", "rank-exited") and end.error else ""
    return Finding(
        code=code,
        name=name,
        severity=Severity.ERROR,
        title=f"{ranks} {how}{place}{said}",
        where=", ".join(filter(None, (ranks, _module(death), death.location if death else ""))),
        evidence=tuple(_evidence(end, death, rerun)),
        fix=_fix(name, death, rerun),
        confidence=Confidence.CONFIRMED if death is None or death.certain or not death.activity else Confidence.LIKELY,
        role=role,
    )


def alike(ends: Sequence[RankOutcome]) -> list[list[RankOutcome]]:
    """Groups ranks that ended the same way in the same place."""
    groups: dict[tuple[object, ...], list[RankOutcome]] = {}
    for end in ends:
        death = end.death()
        place = (death.location, death.module, death.activity) if death is not None else ()
        groups.setdefault((end.signal, end.timed_out, end.returncode, *place), []).append(end)
    return list(groups.values())


def _how(end: RankOutcome) -> tuple[str, str]:
    """Returns the finding's name and what happened in words."""
    if end.stuck:
        return "rank-stalled", f"did not finish within {end.seconds:.0f} s, stuck"
    if end.signal_name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"):
        return "killed-externally", f"was ended by {end.signal_name} from outside"
    if end.signal is not None:
        return "native-crash", f"died of {end.signal_name}"
    if end.exception is not None:
        return "python-exception", "raised an exception"
    return "rank-exited", f"ended with exit code {end.returncode}"


def _module(death: LastActivity | None) -> str:
    return death.module.shown if death is not None and death.module is not None else ""


def _place(death: LastActivity | None) -> str:
    if death is None:
        return ""
    words = []
    if death.module is not None:
        shown = f"{death.module.path} ({death.module.class_name})" if death.module.path else death.module.class_name
        words.append(f"{VERBS.get(death.activity, 'in')} {shown}")
    elif death.activity or death.phase:
        words.append(f"in {death.activity}" if death.activity else f"in phase {death.phase!r}")
    if death.location:
        words.append(f"at {death.location}")
    between = " " if death.certain else ", last seen "
    return between + " ".join(words) if words else ""


def _evidence(end: RankOutcome, death: LastActivity | None, rerun: str) -> list[Evidence]:
    how = end.signal_name or ("no end" if end.stuck else f"exit code {end.returncode}")
    if end.agent is None or death is None:
        observed = "\n".join(filter(None, (f"{how}; {NO_AGENT}", last_lines(end.stderr))))
        return [Evidence(source=rerun, observed=observed, expected="exit code 0")]
    noted = [f"{how} after {end.seconds:.1f} s"]
    if death.phase:
        noted.append(f"phase {death.phase}")
    if death.module is not None:
        noted.append(f"{death.activity} of {death.module.shown} ({death.module.class_name})")
    evidence = [Evidence(source=f"agent/{end.agent.name}", observed=", ".join(noted), expected="exit code 0")]
    if death.source:
        evidence.append(Evidence(source=death.location, observed="\n".join(death.source)))
    return [*evidence, *_stack(end)]


def _stack(end: RankOutcome) -> list[Evidence]:
    if end.exception is not None:
        return [Evidence(source=f"stderr of rank {end.rank}", observed=last_lines(end.stderr))] if end.stderr else []
    if end.agent is None or end.fault is None or end.fault.crashed is None:
        return []
    folder = end.agent.agent_folder
    frames = [
        frame
        for frame in end.fault.crashed.frames
        if not frame.file.endswith(MODULE_CALLS) and not (folder and frame.file.startswith(folder))
    ]
    lines = [f"{frame.file}:{frame.line} {frame.function}" for frame in frames[:SHOWN_FRAMES]]
    name = end.agent.name.replace("agent-", "stacks-").replace(".bin", ".txt")
    return [Evidence(source=f"agent/{name}", observed="\n".join([end.fault.error, *lines]))]


def _fix(name: str, death: LastActivity | None, rerun: str) -> Fix:
    at = f" at {death.location}" if death is not None and death.location else ""
    texts = {
        "native-crash": f"the native code called{at} failed, not Python: check its library's version and the memory, "
        "shapes and devices it is given; take the module out to confirm",
        "python-exception": f"correct the line{at}",
        "rank-stalled": f"look at what the line{at or ' named above'} waits for, and whether every rank reaches it",
        "killed-externally": "look for an out-of-memory kill (dmesg | grep -i killed) or a limit of the container",
    }
    return Fix(text=texts.get(name, "run it again by hand for all of its output"), commands=(rerun,))
