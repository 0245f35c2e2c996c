"""A rank lacks an environment variable that its launcher should have given it.

What it does: takes KeyError, "environment variable RANK expected, but not set" and int(None) at a line that reads
os.environ, compares what the other ranks and the parent had, and looks in the launch scripts for what drops variables:
a missing export, ssh, sudo, env -i, srun --export, a program started with an `env` of its own, or no launcher at all.

Why it matters: the line that fails reads the variable; the line to change is the one that did not pass it on.

Fix: export the variable, pass it through the wrapper, or start the program with torchrun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.analysis.blame import distinct, named, sentence
from diagnostics.analysis.case import Case, Part
from diagnostics.analysis.failure_texts import Told, told
from diagnostics.analysis.job_progress import variable
from diagnostics.analysis.launch_scripts import LAUNCHERS, ScriptLine, lines_with, script_lines
from diagnostics.findings import Confidence, Evidence, Fix
from diagnostics.matches import Examines, Match
from diagnostics.signatures.blamed import blamed

CODE = "D103"
NAME = "environment-lost"
CLASS = "env-not-propagated"
EXAMINES = Examines.FAILED

MISSING = re.compile(
    r"environment variable (?P<torch>[A-Z_]\w*) expected, but not set|^KeyError: '(?P<key>[A-Za-z_]\w*)'$"
    r"|(?P<none>^TypeError: int\(\) argument must be .*NoneType|^TypeError: .*'?NoneType'?"
    r"|^ValueError: invalid literal for int\(\) with base 10: '')"
)
UNBOUND = re.compile(r"(?P<script>[^\s:]+): line (?P<line>\d+): (?P<name>[A-Za-z_]\w*): (?:unbound variable|parameter)")
READS = re.compile(r"(?:environ(?:\.get)?\s*[\[(]|getenv\s*\()\s*f?['\"]([A-Za-z_]\w*)['\"]")
DROPS = re.compile(
    r"\b(?:ssh|sudo|su|pdsh|parallel-ssh|docker\s+(?:run|exec)|podman\s+run|singularity\s+exec|apptainer\s+exec)\b"
    r"|\benv\s+(?:-\w*\s+)*(?:-i|--ignore-environment|-u\b)|(?:^|\s)env\s+-\s|--export[= ](?!ALL)|\bunset\s"
    r"|\bexec\s+-c\b"
)
PYTHON_DROPS = re.compile(
    r"\benv\s*=\s*(?!os\.environ\b|None\b|\{\s*\*\*)|environ\.(?:clear|pop)\(|del\s+os\.environ\b|unsetenv\("
)
LAUNCHERS_OWN = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK"}


def match(case: Case) -> Match | None:
    """Returns the variable, who lacked it, and the line that lost it."""
    tellers = [(one, name) for one in told(case, MISSING) if (name := _name(case, one))]
    if not tellers:
        return None
    name = tellers[0][1]
    lacking = [one for one, other in tellers if other == name]
    stories = [one.story for one in lacking]
    culprits, reason, fix = _where_lost(case, name)
    read_at = [line for one in lacking for line in one.locations(case)]
    had = _who_had(case, name, lacking)
    certain = not lacking[0].found["none"]
    return blamed(
        case,
        stories,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(named(stories))} lacked the environment variable {name}: {reason}",
        evidence=(*lacking[0].evidence(case), *had),
        fix=fix,
        locations=distinct([*culprits, *read_at]),
        confidence=Confidence.CONFIRMED if certain else Confidence.LIKELY,
    )


def _name(case: Case, one: Told) -> str:
    """Returns the variable that was missing, "" where a KeyError is about something else."""
    if one.found["torch"]:
        return one.found["torch"]
    frame = one.origin.frame if one.origin is not None else None
    if frame is None or one.origin is None:
        return ""
    lines = case.sources.file(frame.file).lines
    text = " ".join(lines[max(0, frame.line - 1) : frame.line + 2])
    read = READS.search(text)
    if one.found["none"]:
        return read[1] if read else ""
    in_os = any(re.search(r"(?:/os\.py|<frozen os>)$", inner.file) for inner in one.origin.path[:2])
    return one.found["key"] if in_os or "environ" in text else ""


def _where_lost(case: Case, name: str) -> tuple[list[str], str, Fix]:
    """Returns the lines that lost the variable, what they did in words, and the remedy."""
    unexported = _set_without_export(case, name)
    if unexported:
        words = f"{unexported[0].location} sets it without exporting it"
        return [unexported[0].location], words, Fix(text=f"write `export {unexported[0].text.strip()[:120]}`")
    dropped = [*_dropping(case, DROPS, "shell"), *_dropping(case, PYTHON_DROPS, "python")]
    if dropped:
        shown = dropped[0].text.strip()[:100]
        words = f"{dropped[0].location} starts programs without it ({shown})"
        text = f"pass {name} through: name it in that line, as in {_passing(shown, name)}"
        return [line.location for line in dropped], words, Fix(text=text)
    if name in LAUNCHERS_OWN and not any(one.part is Part.LAUNCHER for one in case.processes):
        starts = lines_with(case, re.compile(r"\bpython[\d.]*\s+(?!-m\s+torch\.distributed)\S"), "shell")
        fix = Fix(text="start it with torchrun, which sets it for each rank",
                  commands=("torchrun --standalone --nproc-per-node 2 " + _script(case),))  # fmt: skip
        return [line.location for line in starts], "the program was started without a launcher that sets it", fix
    text = f"set {name} before the job starts, or give the line that reads it a default"
    return [], "nothing that started this process set it", Fix(text=text, commands=(f"export {name}=...",))


def _set_without_export(case: Case, name: str) -> list[ScriptLine]:
    """Lines `NAME=value` of a script that never exports it; `NAME=value command` does reach that command."""
    lines = [line for line in script_lines(case) if line.language == "shell"]
    exported = re.compile(
        rf"\b(?:export|declare\s+-x|typeset\s+-x)\b[^#]*\b{name}\b|^\s*set\s+(?:-\w*a|-o\s+allexport)"
    )
    if any(exported.search(line.text) for line in lines):
        return []
    sets = re.compile(rf"^\s*(?:local\s+)?{name}=(?:\"[^\"]*\"|'[^']*'|\$\([^)]*\)|\S)*\s*(?:[;#&].*)?$")
    return [line for line in lines if sets.match(line.text)]


def _dropping(case: Case, pattern: re.Pattern[str], language: str) -> list[ScriptLine]:
    found = list(lines_with(case, pattern, language))
    starts = [line for line in found if LAUNCHERS.search(line.text) or "python" in line.text or "env" in line.text]
    return starts or found


def _passing(shown: str, name: str) -> str:
    if "sudo" in shown:
        return f"sudo --preserve-env={name} ..."
    if "ssh" in shown:
        return f'ssh HOST "{name}=${name} ..."'
    if "docker" in shown or "podman" in shown:
        return f"docker run -e {name} ..."
    if "srun" in shown or "--export" in shown:
        return "srun --export=ALL ..."
    return f"env={{**os.environ, '{name}': ...}} in Python, `env {name}=${name}` in a shell"


def _who_had(case: Case, name: str, lacking: Sequence[Told]) -> tuple[Evidence, ...]:
    without = {one.story.pid for one in lacking}
    having = [one for one in case.processes if one.pid not in without and variable(one, name)]
    if not having:
        return ()
    shown = ", ".join(f"{one.part} {one.pid} had {name}={variable(one, name)}" for one in having[:4])
    return (Evidence(source="environments of the job's processes", observed=shown, expected="the same in each"),)


def _script(case: Case) -> str:
    return next((word for word in case.job.command if word.endswith(".py")), "train.py")
