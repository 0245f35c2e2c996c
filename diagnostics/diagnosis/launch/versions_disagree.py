"""Two things that must be of one version are not.

What it does: takes the texts by which versions that do not fit show: `--local-rank` for a script that knows
`--local_rank`, undefined symbols, files of a newer torch, compiled extensions for another numpy; and ranks that run
different Pythons where one of them failed by itself.

Why it matters: the message is about an argument, a symbol or a pickle; no line of the program is wrong.

Fix: one environment for all ranks; torchrun with LOCAL_RANK in place of torch.distributed.launch.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import (
    TextMatch,
    failed_processes,
    match_output,
    match_text,
    merged_locations,
)
from diagnostics.dynamic.job.evidence import names_of, primary_failures, rank_numbers
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.init_progress import anything_started
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_with

CODE = "D110"
NAME = "versions-disagree"
CLASS = "version-skew"
EXAMINES = AppliesTo.FAILED

LOCAL_RANK = re.compile(r"error: (?:unrecognized|the following) arguments?.{0,300}--(?P<given>local[-_]rank)")
DISAGREE = re.compile(
    r"undefined symbol: \S+|version `(?:GLIBC|GLIBCXX|CXXABI)[^']*' not found"
    r"|(?:module )?compiled (?:using|against) (?:a module that was compiled using )?(?:NumPy 1|ABI version|API version)"
    r"|dtype size changed, may indicate binary incompatibility|unsupported pickle protocol: \d+"
    r"|Attempted to read a PyTorch file with version \d+, but the maximum supported version"
    r"|version_? ?\w* <= kMaxSupportedFileFormatVersion"
    r"|(?:built|compiled) (?:with|for|against) (?:a )?(?:different|PyTorch|torch|CUDA)\b.*(?:version|but|!=|than)"
    r"|was removed in (?:the )?(?:NumPy|PyTorch|torch|Python)\b|`np\.\w+` was a deprecated alias"
    r"|\b(?:requires?|needs?|expects?)\b[^\n]{0,60}\b(?:torch|pytorch|python|numpy|cuda|nccl|triton) ?"
    r"(?:[<>=!~]=?|version)[^\n]{0,30}\d[^\n]{0,30}\b(?:but|found|got|installed|have|running)\b"
    r"|VersionConflict|NCCL version mismatch|Mismatched NCCL version|numpy\.core\.multiarray failed to import"
    r"|(?:torch|pytorch|python|cuda|numpy|nccl) versions? (?:mismatch|differs?|disagree|do(?:es)? not match)"
    r"|(?:different|mismatched|inconsistent) (?:torch|pytorch|python|cuda|numpy|nccl|library|package) versions?",
    re.IGNORECASE,
)


def match(job: Job) -> Match | None:
    """Returns what disagrees, with the values, and the line to change."""
    return _local_rank(job) or _by_text(job) or _by_python(job)


def _local_rank(job: Job) -> Match | None:
    found = match_output(job, LOCAL_RANK)
    if found is None or anything_started(job):
        return None
    given = found["given"]
    known = "local_rank" if given == "local-rank" else "local-rank"
    declared = lines_with(job, re.compile(r"add_argument\(.{0,200}--local[-_]rank"), "python")
    parses = lines_with(job, re.compile(r"\.parse_args\("), "python")
    processes = [one for one in failed_processes(job) if one.rank is not None]
    says = f"knows --{known}" if declared else "knows no such argument"
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"torch.distributed.launch of this torch gives each rank --{given}, and the script {says}",
        evidence=(Evidence(source="output of the job", observed=found.string.strip()[:300]),),
        fix=Fix(
            text='read int(os.environ["LOCAL_RANK"]) and start with torchrun, or accept both spellings: '
            'parser.add_argument("--local-rank", "--local_rank", type=int)',
            commands=("torchrun --nproc-per-node 2 train.py",),
        ),
        locations=distinct([line.location for line in (*declared, *parses)] + list(launch_lines(job))),
    )


def _by_text(job: Job) -> Match | None:
    tellers = match_text(job, DISAGREE)
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    pythons = _pythons(job)
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} met a version that does not fit: {one.line[:200]}",
        evidence=(*one.evidence(job), *pythons),
        fix=_fix(one),
        locations=merged_locations(job, tellers),
        confidence=Confidence.CONFIRMED if one.origin is not None else Confidence.LIKELY,
    )


def _by_python(job: Job) -> Match | None:
    """Ranks under different Pythons, one of which failed on its own: likely why, where nothing else says more."""
    used = {one.rank: one.agent.python for one in job.ranks if one.agent is not None and one.agent.python}
    odd = [
        one
        for one in primary_failures(job)
        if one.rank in used and list(used.values()).count(used[one.rank]) < len(used)
    ]
    if len(set(used.values())) < 2 or not odd or len(odd) == len(used):
        return None
    python = used[odd[0].rank]
    starts = lines_with(job, re.compile(rf"(?<![\w.]){re.escape(python)}(?![\w.])"))
    others = sorted({other for other in used.values() if other != python})
    return blamed(
        job,
        odd,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Rank {rank_numbers(odd)[0]} ran {python}, the others {', '.join(others)}, and it alone failed",
        evidence=_pythons(job),
        fix=Fix(text="start every rank with the same Python and environment"),
        locations=distinct([line.location for line in starts]),
        confidence=Confidence.LIKELY,
    )


def _pythons(job: Job) -> tuple[Evidence, ...]:
    used = [f"rank {one.rank}: {one.agent.python}" for one in job.ranks if one.agent is not None and one.agent.python]
    return (Evidence(source="agents' files", observed="; ".join(used), expected="one Python"),) if used else ()


def _fix(one: TextMatch) -> Fix:
    if re.search(r"PyTorch file|kMaxSupported|pickle protocol", one.line):
        return Fix(text="load the file with the version that wrote it, or write it anew with the version in use")
    if re.search(r"was removed|deprecated alias|requires?|needs?|expects?", one.line):
        return Fix(
            text="use what the installed version offers instead, or install the version that the code was written for",
            commands=("python -m torch.utils.collect_env", "pip check"),
        )
    return Fix(
        text="reinstall the extension named for the torch and numpy in use, in one environment for all ranks",
        commands=("python -m torch.utils.collect_env", "pip check"),
    )
