"""The backend of the process group cannot be used here.

What it does: takes what torch says about a backend that is not built in, not known, or without the devices it needs,
and names the line that chooses it.

Why it matters: with NCCL the message comes from init_process_group on one machine, and on another from the first
collective.

Fix: choose by what is there: "nccl" if torch.cuda.is_available() else "gloo".
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import lines_setting

CODE = "D108"
NAME = "backend-missing"
CLASS = "backend-unavailable"
EXAMINES = AppliesTo.FAILED

UNUSABLE = re.compile(
    r"Distributed package doesn't have (?P<built>\w+) built in|ProcessGroup(?P<needs>\w+) is only supported with GPUs"
    r"|Unknown backend type '?(?P<unknown>[\w:,-]+)|Invalid backend: '?(?P<invalid>[\w:,-]+)"
    r"|(?P<cuda>Tensors must be CUDA and dense)|No backend type associated with device type (?P<device>\w+)"
    r"|[Uu]nable to find (?:the )?backend '?(?P<plugin>[\w-]+)"
)


def match(job: Job) -> Match | None:
    """Returns the backend, what it lacks here, and the line that chooses it."""
    tellers = match_text(job, UNUSABLE)
    if not tellers:
        return None
    one = tellers[0]
    backend, reason = _meaning(one.found)
    own = merged_locations(job, tellers)
    set_at = lines_setting(job, ("backend", "dist_backend", "distributed_backend", "init_process_group"), backend)
    set_at = tuple(line for line in set_at if _holds(job, line, backend)) if not one.found["device"] else ()
    literal = [line for line in own[:1] if _holds(job, line, backend)]
    processes = [teller.process for teller in tellers]
    gpus = f"{len(job.facts.gpus)} GPUs" if job.facts.gpus else "no GPU"
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} asked for the backend {backend!r}: {reason}",
        evidence=(*one.evidence(job), Evidence(source="this machine", observed=gpus)),
        fix=_fix(one, backend),
        locations=distinct([*literal, *set_at, *own]),
    )


def _meaning(found: re.Match[str]) -> tuple[str, str]:
    """Returns the backend's name and what it lacks."""
    if found["built"]:
        return found["built"].lower(), "this build of torch does not have it"
    if found["needs"]:
        return found["needs"].lower(), "it needs GPUs, and this process sees none"
    if found["cuda"]:
        return "nccl", "it was given a tensor that is not on a GPU"
    if found["device"]:
        other = "nccl" if found["device"] == "cpu" else "gloo"
        return other, f"it does not serve tensors on {found['device']}"
    name = found["unknown"] or found["invalid"] or found["plugin"]
    return name.lower(), "torch knows no backend of this name"


def _holds(job: Job, place: str, backend: str) -> bool:
    file, _, line = place.rpartition(":")
    lines = job.sources.file(file).lines
    return line.isdigit() and 0 < int(line) <= len(lines) and backend in lines[int(line) - 1].lower()


def _fix(one: TextMatch, backend: str) -> Fix:
    if one.found["unknown"] or one.found["invalid"]:
        return Fix(text=f"correct the name {backend!r}: gloo for CPU, nccl for NVIDIA GPUs")
    if one.found["cuda"] or one.found["device"]:
        return Fix(text='move the tensor to the device of the group, or make the group for both: "cpu:gloo,cuda:nccl"')
    return Fix(text='init_process_group("nccl" if torch.cuda.is_available() else "gloo")',
               commands=("python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'",))  # fmt: skip
