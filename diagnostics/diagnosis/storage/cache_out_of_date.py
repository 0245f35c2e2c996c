"""A cache on disk was made for another configuration or data than the job's.

What it does: takes a refusal by the job's own words (cache, manifest, fingerprint, rebuild), and a shape that does
not fit before the first step where the data came from a file that is loaded if it exists and made if not.

Why it matters: nothing in the program is wrong, and it works on every machine that has no cache yet.

Fix: delete the cache, and name it after what it depends on (a hash of the configuration).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.failures.file_errors import LOADS, SAVES, calls_load, file_in_error, is_file_call
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.model_classes import SourceSite, source_files_of

CODE = "D703"
NAME = "cache-out-of-date"
CLASS = "stale-cache"
EXAMINES = AppliesTo.FAILED

SAID = re.compile(
    r"^(?=[^\n]*\b(?:cach\w*|manifest|precomputed|preprocessed|latents?)\b)[^\n]*\b(?:stale|outdated|out of date"
    r"|mismatch\w*"
    r"|does(?:n't| not) (?:match|fit)|do not match|differs?|rebuild|regenerate|re-?create|was (?:built|made"
    r"|written|created)"
    r"|fingerprint|checksum|expected)\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
SHAPES = re.compile(
    r"mat1 and mat2 shapes cannot be multiplied|size of tensor a \(\d+\) must match|expected input\S* to have \d+ "
    r"channels"
    r"|Given groups=|shape '\[[\d, -]+\]' is invalid|index out of range in self|Given normalized_shape|out of bounds"
    r"|shapes? mismatch|could not be broadcast|must match the existing size|KeyError: |Expected \d+ (?:features"
    r"|channels)"
)
CACHE = re.compile(
    r"cach|latent|precomput|preproc|feature|encoded|index|stats|token|bins|vocab|prepared", re.IGNORECASE
)
GONE = re.compile(r"Can't get attribute '[\w.]+' on <module")
ASKS = re.compile(r"exists\(|is_file\(|isfile\(|isdir\(|is_dir\(")


def match(job: Job) -> Match | None:
    """Returns the cache and the line that takes it as it is."""
    return _by_words(job) or _by_name(job) or _by_shape(job)


def _by_words(job: Job) -> Match | None:
    tellers = [one for one in match_text(job, SAID) if one.origin is not None]
    if not tellers:
        return None
    one = tellers[0]
    return _stale(job, tellers, merged_locations(job, tellers), f"the job says: {one.line[:200]}", Confidence.LIKELY)


def _by_name(job: Job) -> Match | None:
    """A pickled file names a class or module that the program no longer has."""
    tellers = [one for one in match_text(job, GONE) if one.origin is not None and calls_load(job, one.origin.frame)]
    if not tellers:
        return None
    reason = f"it was written by another version of the program: {tellers[0].line[:160]}"
    return _stale(job, tellers, merged_locations(job, tellers), reason, Confidence.LIKELY)


def _by_shape(job: Job) -> Match | None:
    tellers = [one for one in match_text(job, SHAPES) if one.origin is not None and one.process.steps == 0]
    loads = _guarded_loads(job, tellers[0]) if tellers else []
    if not loads:
        return None
    lines = [place.location(job) for place in loads]
    reason = f"{lines[0]} takes what is on disk as it is, and {tellers[0].line[:160]}"
    return _stale(job, tellers, distinct([*lines, *merged_locations(job, tellers)]), reason, Confidence.LIKELY)


def _guarded_loads(job: Job, one: TextMatch) -> list[SourceSite]:
    """Loads inside `if path.exists():` of a file that the same function saves otherwise, without a look at its fit."""
    found: list[SourceSite] = []
    for file in source_files_of(job, one.process):
        tree = job.sources.file(file).tree
        for node in ast.walk(tree) if tree is not None else ():
            if not isinstance(node, ast.FunctionDef) or not CACHE.search(ast.unparse(node)):
                continue
            inner = list(ast.walk(node))
            asks = any(isinstance(part, ast.If) and ASKS.search(ast.unparse(part.test)) for part in inner)
            if asks and any(is_file_call(part, SAVES) for part in inner):
                loads = (part for part in inner if is_file_call(part, LOADS) and "open(" not in ast.unparse(part))
                found.extend(SourceSite(file=file, node=part) for part in loads)
    return found


def _stale(
    job: Job, tellers: Sequence[TextMatch], locations: Sequence[str], reason: str, confidence: Confidence
) -> Match:
    one, processes = tellers[0], [teller.process for teller in tellers]
    file = file_in_error(job, one)
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} used a cache{' ' + file if file else ''} that does not fit this job: "
        f"{reason}",
        evidence=(*one.evidence(job), Evidence(source=locations[0] if locations else "message", observed=reason)),
        fix=Fix(
            text="move the cache away so that it is made anew, and put a hash of all it depends on into its name or "
            "manifest",
            commands=(f"mv {file or 'CACHE'} {file or 'CACHE'}.old",),
        ),
        locations=locations,
        confidence=confidence,
    )
