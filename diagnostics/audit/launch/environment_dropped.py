"""A launch takes away the environment that the ranks need.

What it does: flags `env -i`, `sudo` without -E, `ssh host python ...`, `--export=NONE` of Slurm and subprocess env=
without os.environ in front of a training: in scripts where the training reads its rank from the environment, or where
the script exports what is then dropped.

Why it matters: RANK, WORLD_SIZE, MASTER_ADDR and what NCCL is told are variables. Without them the rank ends with
KeyError: 'RANK', or runs alone, with other settings than the log shows.

Bad:

    subprocess.run([sys.executable, "train.py"], env={"PATH": os.environ["PATH"]})

Good:

    subprocess.run([sys.executable, "train.py"], env={**os.environ, "OMP_NUM_THREADS": "1"})

What it cannot see: what sudoers, sshd (SendEnv) and the cluster let through.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file, training
from diagnostics.static.launch_files.launcher_commands import base, launcher_calls
from diagnostics.static.launch_files.rank_environment import needs_launcher
from diagnostics.static.launch_files.shell_commands import CommandContext, commands
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A608"
NAME = "environment-dropped"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.PYTHON})
CHECKLIST = "ranks keep the environment they are started with"
_TELLING = ("MASTER_", "NCCL_", "CUDA_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "GLOO_", "TORCH_", "OMP_NUM_THREADS")
_RANKS = frozenset(["RANK", "LOCAL_RANK", "WORLD_SIZE"])
_RUNS = frozenset(["subprocess.run", "subprocess.call", "subprocess.Popen", "subprocess.check_call"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launches of a file that drop the environment."""
    if file.kind is FileKind.PYTHON:
        if "subprocess" in file.words and "env" in file.words:
            yield from _in_python(file, project)
        return
    for script in embedded_scripts(file):
        for ran in script.commands:
            found = _emptied(ran) or _as_another_user(ran) or _by_slurm(ran)
            if found is not None and training(ran, file, project) is not None:
                yield from _dropped(file, project, ran, *found)
            yield from _over_ssh(file, project, ran)


def _emptied(ran: CommandContext) -> tuple[str, int, tuple[str, ...]] | None:
    for index, word in enumerate(ran.words[:-1]):
        if base(word) == "env" and ran.words[index + 1] in ("-i", "-", "--ignore-environment"):
            return "env -i", index, _RANKS_LIST
    return None


def _as_another_user(ran: CommandContext) -> tuple[str, int, tuple[str, ...]] | None:
    if not ran.words or ran.words[0] != "sudo":
        return None
    options = [word for word in ran.words[1:6] if word.startswith("-")]
    kept = any(word.startswith("--preserve-env") or (word[1:2] != "-" and "E" in word) for word in options)
    lost = tuple(name for name in _exported(ran) if f"{name}=" not in " ".join(ran.words))
    return None if kept or not lost else ("sudo without -E", 0, lost)


def _by_slurm(ran: CommandContext) -> tuple[str, int, tuple[str, ...]] | None:
    for index, word in enumerate(ran.words):
        if word in ("--export=NONE", "--export=NIL") and base(ran.words[0]) in ("srun", "exec"):
            lost = _exported(ran)
            return (f"srun {word}", index, lost) if lost else None
    return None


_RANKS_LIST = ("RANK", "LOCAL_RANK", "WORLD_SIZE")


def _exported(ran: CommandContext) -> tuple[str, ...]:
    """Returns what the script itself exports for the ranks."""
    return tuple(name for name in sorted({*ran.exported, *ran.assigned}) if name.startswith(_TELLING))


def _dropped(
    file: ProjectFile, project: Project, ran: CommandContext, how: str, index: int, lost: Sequence[str]
) -> Iterator[Violation]:
    layers = launcher_calls(ran.words)
    given = {word.partition("=")[0] for word in ran.words if "=" in word}
    launched = layers and layers[-1].kind != "python"
    if how == "env -i" and (given & _RANKS or launched):
        return
    program = script_file(layers[-1], file, project) if layers else None
    needs = needs_launcher(program, project) if program is not None and how == "env -i" else None
    line, column = place(file, ran, index)
    steps = [ExplanationStep(place=file.place(line), text=f"{how} drops {', '.join(lost)}")]
    if needs is not None:
        there = needs.file.place(getattr(needs.node, "lineno", 1))
        steps.append(ExplanationStep(place=there, text=f"reads {needs.what}, without a default"))
    sure = needs is not None and needs.sure
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{how} drops {', '.join(lost)} before {layers[-1].script if layers else 'the training'}"
        + (f", which takes its rank from {needs.what}" if needs is not None else ""),
        fix='take env -i away, or hand them on: env -i RANK="$RANK" ...'
        if how == "env -i"
        else "sudo -E"
        if how.startswith("sudo")
        else "--export=ALL",
        steps=tuple(steps),
        confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY if how != "env -i" else Confidence.POSSIBLE,
    )


def _over_ssh(file: ProjectFile, project: Project, ran: CommandContext) -> Iterator[Violation]:
    """Yields `ssh host "torchrun ..."` in a script that exports what the ranks need and does not hand it on."""
    if not ran.words or base(ran.words[0]) not in ("ssh", "pdsh"):
        return
    text = " ".join(ran.words[1:])
    lost = tuple(name for name in _exported(ran) if name not in text)
    try:
        inner = commands(parse(ran.words[-1])) if lost and " " in ran.words[-1] else ()
    except ShellError:
        return
    found = next((one for one in (training(each, file, project) for each in inner) if one is not None), None)
    if found is None and lost:
        found = training(ran, file, project)
    if found is None:
        return
    line, column = place(file, ran)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"ssh hands on no environment: '{found.shown}' does not get {', '.join(lost)}, which the script exports",
        fix=f'ssh host "{lost[0]}=${lost[0]} ..."',
        steps=(
            ExplanationStep(
                place=file.place(line), text=f"exported here, and not named in the command: {', '.join(lost)}"
            ),
        ),
        confidence=Confidence.LIKELY,
    )


# Python


def _in_python(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for call, function in project.calls_in(file):
        given = next((one.value for one in call.keywords if one.arg == "env"), None)
        if given is None or project.name(call.func, function) not in _RUNS or not call.args:
            continue
        made = _made_from_nothing(given, function, project)
        words = _command_words(call.args[0], function, project)
        layers = launcher_calls(words) if made is not None else ()
        if made is None or not layers:
            continue
        program = script_file(layers[-1], file, project)
        needs = needs_launcher(program, project) if program is not None and layers[-1].kind == "python" else None
        if needs is None:
            continue
        there = needs.file.place(getattr(needs.node, "lineno", 1))
        yield violation(
            file,
            call,
            f"{layers[-1].script} is started with an environment of {_names(made)} alone, and takes its rank from "
            f"{needs.what} ({there})",
            "env={**os.environ, ...}",
            steps=(
                step(file, made, "an environment without os.environ"),
                step(file, call, f"starts {layers[-1].script} with it"),
                ExplanationStep(place=there, text=f"reads {needs.what}, without a default"),
            ),
            confidence=Confidence.CONFIRMED if needs.sure else Confidence.POSSIBLE,
        )


def _made_from_nothing(value: ast.expr, function: Function, project: Project, rounds: int = 3) -> ast.Dict | None:
    """Returns the dictionary that is the whole environment: literal names, none of them of ranks, nothing merged in."""
    if isinstance(value, ast.Name) and rounds:
        if any(_adds_to(node, value.id) for node in function.own_nodes):
            return None
        found = [
            _made_from_nothing(one, at, project, rounds - 1) for one, at in reaching_values(value, function, project)
        ]
        return found[0] if len(found) == 1 else None
    if not isinstance(value, ast.Dict) or any(key is None for key in value.keys):
        return None
    names = {key.value if isinstance(key, ast.Constant) else None for key in value.keys}
    return value if None not in names and not names & _RANKS else None


def _adds_to(node: ast.AST, name: str) -> bool:
    target = node.value if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target = node.func.value if node.func.attr in ("update", "setdefault") else None
    return isinstance(target, ast.Name) and target.id == name


def _command_words(value: ast.expr, function: Function, project: Project, rounds: int = 3) -> tuple[str, ...]:
    """Returns the words of a command's list; what is computed is left as "$"."""
    if isinstance(value, ast.Name) and rounds:
        several = list(reaching_values(value, function, project))
        return _command_words(*several[0], project, rounds - 1) if len(several) == 1 else ()
    if not isinstance(value, (ast.List, ast.Tuple)):
        return ()
    words = []
    for one in value.elts:
        executable = isinstance(one, ast.Attribute) and one.attr == "executable"
        literal = one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else "$"
        words.append("python" if executable else literal)
    return tuple(words)


def _names(made: ast.Dict) -> str:
    return ", ".join(str(key.value) for key in made.keys if isinstance(key, ast.Constant)) or "nothing"
