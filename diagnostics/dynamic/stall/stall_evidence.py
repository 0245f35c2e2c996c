"""What was seen of a process that stands still, look after look, as proof. Pure."""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.dynamic.job.job import Case, ProcessStory
from diagnostics.dynamic.job.observations import Looks, looks_of

_STATES = {
    "R": "runs", "S": "sleeps", "D": "waits inside the kernel (D)", "T": "is stopped (T)", "t": "is traced (t)",
    "I": "is idle",
}  # fmt: skip


def looks_evidence(case: Case, story: ProcessStory, who: str) -> tuple[Evidence, ...]:
    """Returns one line about the looks at a process, () where nobody looked."""
    seen = looks_words(looks_of(case, story))
    return (Evidence(source=f"looks at {who} (pid {story.pid})", observed=seen),) if seen else ()


def looks_words(looks: Looks) -> str:
    """Returns "sleeps in read of pipe:[81], 0 % of a CPU, 5 looks over 10 s"; "" where nobody saw it alive."""
    last = looks.last
    if last is None or looks.state not in _STATES:  # it ended while it was looked at
        return ""
    parts = [_STATES[looks.state]]
    if looks.call:
        parts[0] += f" in {looks.call}" + (f" of {looks.open_file}" if looks.open_file.startswith("/") else "")
    if looks.cpus is not None:
        parts.append(f"{looks.cpus * 100:.0f} % of a CPU")
    if looks.bytes_per_s:
        parts.append(f"{looks.bytes_per_s / 1024:.1f} KiB/s read and written")
    if looks.swaps:
        parts.append("major page faults all the time")
    apart = last.at_s - looks.samples[0].at_s
    parts.append(f"{len(looks.samples)} looks over {apart:.1f} s")
    return ", ".join(parts)
