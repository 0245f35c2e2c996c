"""An import failed in the job.

What it does: names the module that is missing or does not load (also a shared library, an undefined symbol, a GLIBC too
old, a circle of imports, a file of the job's that hides a library) and the job's line that imports it.

Why it matters: the traceback ends in importlib or in a library, and each rank prints its own.

Fix: install what is missing, or correct the import.
"""

from __future__ import annotations

import re
import sys

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.frames import shown_path
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    names_of,
    output_evidence,
    path_evidence,
    primary_failures,
    source_evidence,
    written_by,
)
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D260"
NAME = "import-fails"
CLASS = "import-failure"
EXAMINES = AppliesTo.FAILED

_TYPES = re.compile(r"(?:^|\.)(?:ModuleNotFoundError|ImportError)$")
_LOADER = re.compile(
    r"cannot open shared object file|undefined symbol|version `?(?:GLIBC|GLIBCXX|CXXABI)\S* not found"
    r"|\(most likely due to a circular import\)|wrong ELF class|invalid ELF header"
)
_NO_ATTRIBUTE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'|^`(\w+)\.(\w+)` was removed in the ")
_MISSING = re.compile(r"No module named '?([\w.]+)'?")
_NAME = re.compile(
    r"cannot import name '([\w.]+)' from (?:partially initialized module )?"
    r"'([\w.]+)'(?:.{0,400}\(([^()]{1,1000}\.py)\))?"
)
_BARE = re.compile(
    r"^\S*python[\d.]*: (?:Error while finding module specification for .*|No module named (\S+).*)$", re.M
)


def match(job: Job) -> Match | None:
    """Returns the import that failed in the processes at fault."""
    ends = [
        (process, error)
        for process in primary_failures(job)
        if (error := root_exception(job, process)) and _is_import(error)
    ]
    if ends:
        first = min((error for _, error in ends), key=lambda error: error.at_s)
        return _match(job, [process for process, error in ends if error.frame == first.frame], first)
    for process in primary_failures(job):
        bare = (
            _BARE.search(written_by(job, process)) if process.end.exit_code == 1 and process.uncaught is None else None
        )
        if bare is not None:
            return _never_started(job, process, bare)
    return None


def _is_import(error: RootException) -> bool:
    told = _TYPES.search(error.type) or _LOADER.search(error.message) or _lacks_a_name(error)
    return bool(told) and not _handled_import(error)


def _lacks_a_name(error: RootException) -> bool:
    """Whether a file of the job's, while it was imported, asked a module for a name that its version does not have."""
    importing = len(error.frames) > 1 and error.frames[0].function == error.frames[1].function == "<module>"
    return importing and error.type == "AttributeError" and bool(_NO_ATTRIBUTE.search(error.message))


def _handled_import(error: RootException) -> bool:
    """A fallback import that failed before, while something else is the cause."""
    return error.before_first and not re.search(r"(?:ModuleNotFound|Import)Error", error.before_text)


def _match(job: Job, processes: list[JobProcess], error: RootException) -> Match:
    cause, fix, hiding = _explained(job, error)
    locations = distinct([*locations_of(job, error), hiding])
    at = f" at {locations[0]}" if locations else ""
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} could not import{at}: {cause}",
        evidence=[
            end_evidence(processes[0]),
            *path_evidence(job, error.text, error.frames or error.path),
            *(source_evidence(job, error.frame) if error.frame is not None else ()),
        ],
        fix=fix,
        locations=locations,
        explains=[error.process.pid],
        began_s=error.at_s,
    )


def _explained(job: Job, error: RootException) -> tuple[str, Fix, str]:
    """Returns the cause, what helps, and the file of the job that hides a library ("" where none does)."""
    text = error.message
    if "circular import" in text:
        fix = "import inside the function that needs it, or move what both need into a third module"
        return f"{text.partition(' (/')[0]}: the modules import each other", Fix(text=fix), ""
    if found := _MISSING.search(text):
        top = found[1].partition(".")[0]
        own = f"{top}.py" in {frame.file.rpartition("/")[2] for frame in error.path}
        fix = "correct the path or the name" if own else f"install {top} in the job's environment, or correct its name"
        return f"no module named {found[1]}", Fix(text=fix, commands=() if own else (f"python -m pip show {top}",)), ""
    if found := _NAME.search(text):
        file, module = found[3] or "", found[2]
        inside = bool(file) and file.startswith(f"{job.facts.cwd}/")
        if inside and module.partition(".")[0] in sys.stdlib_module_names:
            hiding = shown_path(file, job.facts.cwd)
            return f"{hiding} hides Python's own {module}", Fix(text=f"give {hiding} another name"), f"{hiding}:1"
        return f"{module} has no {found[1]}", Fix(text=f"see which version of {module} has {found[1]}"), ""
    if found := _NO_ATTRIBUTE.search(text):
        module, name = found[1] or found[3], found[2] or found[4]
        return text, Fix(text=f"see which version of {module} has {name}, or what stands for it in this one"), ""
    if "GLIBC" in text or "CXXABI" in text:
        return text, Fix(text="use a wheel that was built for this system, or a newer system image"), ""
    if "undefined symbol" in text:
        return text, Fix(text="build the extension anew against the installed torch"), ""
    if "shared object" in text:
        return text, Fix(text="install the library named, or add its folder to LD_LIBRARY_PATH"), ""
    return text, Fix(text="correct the import"), ""


def _never_started(job: Job, process: JobProcess, bare: re.Match[str]) -> Match:
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} did not start: {bare[0]}",
        evidence=[end_evidence(process), Evidence(source="python", observed=bare[0]), *output_evidence(process)],
        fix=Fix(text="correct the name behind python -m, or start it in the folder that holds it"),
    )
