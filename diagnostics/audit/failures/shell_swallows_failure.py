"""A shell script takes a failed training for a finished one.

What it does: flags a training behind which stands `|| true`, `|| :`, `|| echo ...` or `|| exit 0`, a bare `wait` for
trainings in the background, `trap 'exit 0' EXIT`, `exit 0` or a claim of success that nothing guards, a recipe of a
Makefile that begins with `-`, and `continue-on-error` in a workflow that asks for the step's outcome nowhere. Shell
scripts, Makefiles, and the scripts inside YAML and Dockerfiles.

Why it matters: the exit code is all that a scheduler, a workflow and a person who is asleep look at. A training that
died in its first second counts as a success, its results are packed, and the next stage runs on what is not there.

Bad:

    torchrun --standalone --nproc-per-node 2 train.py || true
    tar cf results.tar out/

Good:

    set -e
    torchrun --standalone --nproc-per-node 2 train.py
    tar cf results.tar out/

What it cannot see: what a caller of the script does with its code, handlers in files that the script sources, commands
inside `$(...)`, and whether going on without the training is what is wanted: then `|| failed=1` and a last
`exit $failed` say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.background_jobs import Jobs
from diagnostics.static.launch_files.command_locations import is_compared, levels, place, reads_status, simple_commands
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.failing.function_calls import as_called
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Pipeline, Simple
from diagnostics.static.launch_files.yaml_nodes import entries, line_of, scalar
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A511"
NAME = "shell-swallows-failure"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "launch scripts end with the code of the training"
_QUIET = frozenset(["true", ":", "echo", "printf", "/bin/true", "/usr/bin/true"])
_ALSO_0 = frozenset(
    ["date", "sleep", "logger", "touch", "rm", "cat", "tail", "curl", "mail", "sendmail", "notify-send"]
)
_CLAIM = re.compile(r"success|\b(?:complete[d]?|finished|done|all good|OK)\b", re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:not|un\w+|fail\w*|error|without|if|check)\b|\$\?", re.IGNORECASE)
_DETACHED = frozenset(["nohup", "setsid", "disown"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trainings of the scripts of a file whose failure is lost."""
    for script in embedded_scripts(file):
        trained = [(ran, found) for ran in script.commands if (found := training(ran, file, project)) is not None]
        for ran, found in trained:
            yield from _in_list(file, ran, found)
            yield from _in_background(file, script, ran, found)
            for one in as_called(ran, script.commands):
                yield from _before_success(file, one, found)
            yield from _read_too_late(file, ran, found)
            if script.home == "makefile":
                yield from _in_a_loop(file, ran, found)
        if trained and script.ignored:
            yield _ignored_by_make(file, *trained[0])
        if trained:
            yield from _trapped(file, script, *trained[0])
            yield from _continued(file, script, *trained[0])


def _in_list(file: ProjectFile, ran: CommandContext, found: Training) -> Iterator[Violation]:
    """`train || true`, also around a group or a loop that trains."""
    for statement, at, _ in levels(ran):
        if statement.operators[at : at + 1] != ("||",):
            continue
        behind = statement.pipelines[at + 1]
        confidence = _is_quiet(behind)
        later = [command for one in statement.pipelines[at + 1 :] for command in one.commands]
        if confidence is None or any(_fails(command) for command in later):
            return
        line, column = place(file, ran)
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=f"the failure of '{found.shown}' is swallowed by '|| {_text(behind)}': the script goes on and ends "
            "with 0",
            fix="take it away, with 'set -e' at the top; where the script has to go on: || failed=1, and "
            "'exit $failed' at its end",
            confidence=confidence,
        )
        return


def _in_background(file: ProjectFile, script: Script, ran: CommandContext, found: Training) -> Iterator[Violation]:
    """`train &` and then a `wait` that says nothing of it."""
    jobs = Jobs(script.commands)
    if not jobs.is_job(ran) or ran.outer is not None:
        return
    waits = [one for one, _ in jobs.waits_for(ran) if jobs.is_called(one)]
    line, column = place(file, ran)
    started = ExplanationStep(place=file.place(line), text=f"'{found.shown}' is started in the background")
    if any(len(one.words) > 1 for one in waits):
        return
    if waits:
        at, column = place(file, waits[0])
        yield Violation(
            file=file,
            line=at,
            column=column,
            title=f"'wait' without a job ends with 0 whatever became of '{found.shown}' in the background",
            fix='pids+=($!) behind each start, then: for pid in "${pids[@]}"; do wait "$pid" || failed=1; done; '
            "exit ${failed:-0}",
            steps=(started, ExplanationStep(place=file.place(at), text="waits for all, and returns 0")),
        )
    elif not _DETACHED & {word for one in script.commands for word in one.words[:1]}:
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=f"'{found.shown}' runs in the background and nothing waits for it: the script ends with 0 at once",
            fix='wait "$!" at the end of the script',
            confidence=Confidence.POSSIBLE,
        )


def _before_success(file: ProjectFile, ran: CommandContext, found: Training) -> Iterator[Violation]:
    """The training, then `exit 0` or a claim of success, and nothing in between that looks at its code."""
    ends = ran.options | _outside(ran).options
    if "errexit" in ends or ran.tested or len(ran.pipeline.commands) > 1 or ran.words[0] == "exec":
        return
    for statement, at, after in levels(ran):
        if statement.background or statement.operators[at:] or reads_status([statement, *after[:2]]):
            return
        end = next(((one, claim) for one in after for claim in [_claims(one)] if claim), None)
        if end is None or is_compared(ran, after):
            continue
        line, column = place(file, ran)
        said = ExplanationStep(place=file.place(_line(end[0])), text=f"{end[1]}, whatever became of it")
        sure = end[1] == "exit 0" and len(ran.around) == 0
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=f"nothing looks at the exit code of '{found.shown}': the script goes on to {end[1]} where it failed",
            fix="set -e at the top of the script",
            steps=(ExplanationStep(place=file.place(line), text=f"'{found.shown}', without 'set -e'"), said),
            confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
            severity=None if sure else Severity.WARNING,
        )
        return


def _read_too_late(file: ProjectFile, ran: CommandContext, found: Training) -> Iterator[Violation]:
    """The training, then words, and only then `$?`: that of the words."""
    at = _outside(ran)
    if "errexit" in at.options or at.tested or len(at.pipeline.commands) > 1 or at.words[0] == "exec":
        return
    block = at.blocks[-1]
    statement = block.statements[block.index]
    if statement.operators or statement.background or reads_status([statement]) or not block.after:
        return
    words = list(takewhile(_only_says, block.after))
    behind = block.after[len(words) :]
    if not words or any(reads_status([one]) for one in words) or not behind or not reads_status(behind[:1]):
        return
    said, line = _text(words[-1].pipelines[0]), _line(behind[0])
    yield Violation(
        file=file,
        line=line,
        column=1,
        title=f"'$?' is here the code of '{said}', which stands before it, and not that of '{found.shown}'",
        fix=f"code=$? right behind '{found.shown}', and then the words",
        steps=(
            ExplanationStep(place=file.place(place(file, ran)[0]), text=f"'{found.shown}' ends, with 1 perhaps"),
            ExplanationStep(place=file.place(_line(words[-1])), text=f"'{said}' ends with 0"),
            ExplanationStep(place=file.place(line), text="'$?' is 0"),
        ),
    )


def _outside(ran: CommandContext) -> CommandContext:
    """Returns the command that ends as another one does: `srun bash -c 'torchrun ...'` as the last one in its text."""
    while ran.outer is not None and not ran.substituted and not ran.blocks[-1].after:
        ran = ran.outer
    return ran


def _in_a_loop(file: ProjectFile, ran: CommandContext, found: Training) -> Iterator[Violation]:
    """The training in a loop of a recipe: make is told how the last round ended, and of no other one."""
    loop = next((one for one in reversed(ran.around) if one.kind in ("for", "while", "until")), None)
    block = ran.blocks[-1]
    statement = block.statements[block.index]
    if loop is None or "errexit" in ran.options or ran.tested or ran.outer or len(ran.pipeline.commands) > 1:
        return
    if "||" in statement.operators or statement.background or reads_status([statement, *block.after]):
        return
    line, column = place(file, ran)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"'{found.shown}' runs in a loop, and make is told how its last round ended: where an earlier one "
        "failed, what depends on it is made as if all had gone well",
        fix="'set -e;' at the beginning of the recipe, or '|| exit 1' behind the command",
        steps=(
            ExplanationStep(place=file.place(loop.first.line), text="the loop goes on, whatever a round ended with"),
        ),
        confidence=Confidence.LIKELY,
    )


def _only_says(statement: AndOr) -> bool:
    """Whether a statement is one command that writes words, and ends with 0 whatever happened."""
    names = [_name(one) for pipeline in statement.pipelines for command in pipeline.commands
             for one in _simple(command)]  # fmt: skip
    return bool(names) and set(names) <= {"echo", "printf"} and not statement.background


def _trapped(file: ProjectFile, script: Script, ran: CommandContext, found: Training) -> Iterator[Violation]:
    for one in script.commands:
        ends = {"EXIT", "0", "ERR"} & set(one.words[2:])
        if one.words[:1] == ("trap",) and ends and _ends_with_0(one.words[1], script):
            line, column = place(file, one)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"trap ... {ends.pop()} ends the script with 0, also where '{found.shown}' failed",
                fix="code=$?; ...; exit $code in the trap",
                steps=(ExplanationStep(place=file.place(place(file, ran)[0]), text=f"'{found.shown}' fails"),),
            )


def _ignored_by_make(file: ProjectFile, ran: CommandContext, found: Training) -> Violation:
    line, column = place(file, ran)
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"make takes no notice of how '{found.shown}' ended (the '-' before it, or .IGNORE): it goes on, "
        "and ends with 0",
        fix="take the '-' away",
    )


def _ends_with_0(trap: str, script: Script) -> bool:
    """Whether what a trap is given, text or the name of a function of the script, ends with `exit 0`."""
    if trap.isidentifier():
        return _body_of(trap, script.file.lines)[-1:] == ["exit 0"]
    return re.search(r"(?:^|[;&{\s])exit\s+0\s*+;?\s*+\}?$", trap) is not None


def _body_of(name: str, lines: list[str]) -> list[str]:
    """Returns the statements of a function of a script, one a line; [] without one of this name."""
    heads = (f"{name}()", f"{name} ()", f"function {name}")
    start = next((at for at, line in enumerate(lines, 1) if line.startswith(heads)), len(lines))
    end = next((at for at, line in enumerate(lines[start:], start) if line.startswith("}")), start)
    return [text for line in lines[start:end] if (text := line.strip().rstrip("; ")) and not text.startswith("#")]


def _continued(file: ProjectFile, script: Script, ran: CommandContext, found: Training) -> Iterator[Violation]:
    key = entries(script.node).get("continue-on-error") if script.home == "github" else None
    name = scalar(entries(script.node).get("id"))
    asked = name and re.search(rf"steps\.{re.escape(name)}\.(?:outcome|conclusion)", file.text)  # it is tried again
    if key is not None and scalar(key).lower() == "true" and not asked:
        yield Violation(
            file=file,
            line=line_of(key),
            title=f"continue-on-error: the step that runs '{found.shown}' is green where it failed",
            fix="take it away, or look at steps.<id>.outcome in a later step",
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,
        )


def _is_quiet(pipeline: Pipeline) -> Confidence | None:
    """Whether what stands behind `||` ends with 0 and does nothing about the failure."""
    names = [_name(one) for command in pipeline.commands for one in _simple(command)]
    if not names or any(isinstance(command, Simple) and command.assignments for command in pipeline.commands):
        return None
    if any(_fails(command) for command in pipeline.commands):
        return None
    if set(names) <= _QUIET | {"exit 0"}:
        return Confidence.CONFIRMED
    if set(names) <= _QUIET | _ALSO_0 | {"exit 0"}:
        return Confidence.LIKELY
    return Confidence.POSSIBLE if set(names) <= {"continue", "break"} | _QUIET else None


def _simple(command: Command) -> Sequence[Simple | None]:
    if isinstance(command, Simple):
        return [command]
    if command.kind not in ("group", "subshell"):
        return [None]
    return [one for statement in command.parts[0] for one in simple_commands(statement)] or [None]


def _name(command: Simple | None) -> str:
    if command is None or not command.words:
        return "?"
    words = [word.text for word in command.words]
    return " ".join(words[:2]) if words[0] == "exit" else words[0]


def _fails(command: Command) -> bool:
    """Whether a command may end the script with another code than 0."""
    for one in _simple(command):
        words = [word.text for word in one.words] if one is not None else ["false"]
        if words[:1] in (["false"], ["kill"]) or (words[:1] in (["exit"], ["return"]) and words[1:2] != ["0"]):
            return True
    return False


def _claims(statement: AndOr) -> str:
    """Returns "exit 0", or the message, where a statement says without condition that all is well."""
    if statement.operators or len(statement.pipelines[0].commands) > 1:
        return ""
    for one in simple_commands(statement):
        words = [word.text for word in one.words]
        if words[:2] == ["exit", "0"]:
            return "exit 0"
        text = " ".join(words[1:]).strip("'\"")
        said = words[:1] in (["echo"], ["printf"]) and not one.redirects
        if said and _CLAIM.search(text) and not _DOUBT.search(text):
            return f"'{words[0]} {text[:40]}'"
    return ""


def _line(statement: AndOr) -> int:
    return statement.pipelines[0].commands[0].first.line


def _text(pipeline: Pipeline) -> str:
    first = pipeline.commands[0]
    if isinstance(first, Simple):
        text = " ".join(word.text for word in first.words)
        return text if len(text) <= 40 else text[:37] + "..."
    return "{ ... }"
