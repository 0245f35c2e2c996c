"""A file ends before it should.

What it does: takes what torch, numpy, h5py, pickle, gzip, zip and safetensors say of a file that is cut off or empty,
also "OSError: Invalid argument" out of torch.load, which says nothing of the kind, and names the file and the line
that loads it.

Why it matters: a job that was killed while it saved, a full disk or a copy under way leave half a file, and every later
run dies of it; where ranks save and load the same file, only some do.

Fix: make the file again; write under a temporary name, rename when whole, and let the other ranks wait for it.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.failures.file_errors import calls_load, came_from_loading, file_in_error, saving_lines
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job

CODE = "D702"
NAME = "file-cut-short"
CLASS = "truncated-file"
EXAMINES = AppliesTo.FAILED

CUT = re.compile(
    r"(?P<sure>failed finding central directory|unexpected EOF, expected \d+ more bytes|file seems not fully written"
    r"|No data left in file|truncated file: eof = |pickle data was truncated|Compressed file ended before the "
    r"end-of-stream"
    r"|mmap length is greater than file size|MetadataIncompleteBuffer|incomplete metadata|InvalidHeaderDeserialization"
    r"|HeaderTooSmall|header too small|Ran out of input|smaller than the required mapping size|Bad CRC-32|File is "
    r"not a zip"
    r"|file is truncated|(?:file|archive|image) (?:is )?truncated|Truncated (?:zip|file|tar)|unexpected end of data"
    r"|Bad magic number for (?:file|central)|EOFError\b(?!: Comp|: Ran)"
    r"|could only read \d+ elements|Unexpected end of (?:file|stream))"
    r"|(?P<unclear>OSError: \[Errno 22\] Invalid argument|file signature not found|invalid HDF5|addr overflow"
    r"|cannot reshape array of size \d+ into shape|cannot mmap an empty file|JSONDecodeError|invalid load key, '\\x00'"
    r"|PytorchStreamReader failed|buffer size must be a multiple|not a gzip)",
    re.IGNORECASE,
)
NOT_FILES = re.compile(r"Connection|recv|socket|Unsupported (?:global|operand|class)|EOF when reading a line")


def match(job: Job) -> Match | None:
    """Returns the file, who could not read it, and the line that loads it."""
    tellers = [one for one in match_text(job, CUT) if _is_about_a_file(job, one)]
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    file = file_in_error(job, one)
    saves = saving_lines(job, one, file)
    own = merged_locations(job, tellers)
    said = one.line.splitlines()[0][:160] if one.line else one.found[0]
    also = f"; the job itself saves it at {saves[0]}" if saves and file and len(saves) == 1 else ""
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} read {file or 'a file'}, which is cut short or empty ({said}){also}",
        evidence=one.evidence(job),
        fix=Fix(
            text=f"make {file or 'the file'} again or copy it whole; save under a temporary name and os.replace "
            f"it, and "
            "put a barrier between the rank that saves and those that load",
            commands=(f"ls -l {file or 'FILE'}", f"ups-doctor scan-cache {file or 'FOLDER'}"),
        ),
        locations=distinct([*own[:2], *saves[:2], *own[2:]]),
        confidence=Confidence.CONFIRMED if one.found["sure"] else Confidence.LIKELY,
    )


def _is_about_a_file(job: Job, one: TextMatch) -> bool:
    """`EOFError` of input() or of a pipe, and a reshape of something that was computed, are about something else."""
    if NOT_FILES.search(one.found.string) or one.origin is None:
        return one.origin is None and bool(one.found["sure"]) and "EOFError" not in one.found[0]
    loading = came_from_loading(one) or calls_load(job, one.origin.frame)
    if one.found["sure"] and one.found["sure"] != "EOFError":
        return True
    return loading and not any("/multiprocessing/" in frame.file for frame in one.origin.path[:6])
