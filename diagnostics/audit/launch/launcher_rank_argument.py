"""A script expects its local rank as an argument that its launcher does not pass.

What it does: flags `--local_rank` that is required, and scripts that know only `--local_rank` under
torch.distributed.launch (which passes `--local-rank` since PyTorch 2.0), or that read args.local_rank under torchrun,
which passes neither.

Why it matters: argparse ends every rank with "unrecognized arguments: --local-rank=0", or all ranks take the default
and so the same GPU.

Bad:

    python -m torch.distributed.launch --nproc-per-node 2 train.py    # add_argument("--local_rank", type=int)

Good:

    torchrun --standalone --nproc-per-node 2 train.py                 # int(os.environ["LOCAL_RANK"])

What it cannot see: which PyTorch the job runs with, where no list of requirements, environment or image of the
project says so; before 2.0 torch.distributed.launch passed --local_rank.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.declared_versions import DeclaredVersions
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A611"
NAME = "launcher-rank-argument"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.PYTHON})
CHECKLIST = "ranks take LOCAL_RANK from the environment"
_UNDERSCORE, _DASH = "--local_rank", "--local-rank"

# Names that only PyTorch 2 has.
_OF_TORCH_2 = frozenset(
    ["fully_shard", "init_device_mesh", "DeviceMesh", "sdpa_kernel", "_dynamo", "scaled_dot_product_attention",
     "flex_attention", "weights_only"]
)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the arguments that no launcher passes, and the launch lines of scripts that expect them."""
    if file.kind is FileKind.PYTHON:
        yield from _required(file)
        return
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                if launch.kind in ("launch", "torchrun"):
                    yield from _launched(file, project, ran, launch)


def _required(file: ProjectFile) -> Iterator[Violation]:
    """`--local_rank` that has to be given: torchrun gives it never, torch.distributed.launch with a dash."""
    if "local_rank" not in file.words or "deepspeed" in file.words:
        return
    for call, names in _arguments(file):
        if names == {_UNDERSCORE} and any(_is_true(one) for one in call.keywords if one.arg == "required"):
            yield violation(
                file,
                call,
                f"{_UNDERSCORE} is required, and no launcher of PyTorch 2 passes it: torchrun sets LOCAL_RANK instead",
                'local_rank = int(os.environ["LOCAL_RANK"])',
                confidence=Confidence.POSSIBLE if _is_conditional(file, call) else Confidence.LIKELY,
            )


def _is_conditional(file: ProjectFile, call: ast.Call) -> bool:
    """Whether a test stands around a declaration: `if torch_major == 1`."""
    outer = file.parents.get(call)
    while outer is not None:
        if isinstance(outer, ast.If) and not ast.unparse(outer.test).startswith("__name__"):
            return True
        outer = file.parents.get(outer)
    return False


def _launched(file: ProjectFile, project: Project, ran: CommandContext, launch: Launch) -> Iterator[Violation]:
    program = script_file(launch, file, project)
    if program is None or "local_rank" not in program.words:
        return
    declared = [(call, names) for call, names in _arguments(program) if names & {_UNDERSCORE, _DASH}]
    if len(declared) != 1 or any("local_rank" in word or "local-rank" in word for word in launch.arguments):
        return
    call, names = declared[0]
    where = program.place(call.lineno)
    tolerant = "parse_known_args" in program.words
    if launch.kind == "launch":
        if names != {_UNDERSCORE} or tolerant or "--use-env" in launch.options:
            return
        if any(re.fullmatch(r"python3\.[0-7]", word) for word in ran.words):
            return  # no PyTorch 2 runs there
        if project.fact(DeclaredVersions).is_older("torch", (2,), of=file.shown):
            return
        text = f"torch.distributed.launch passes {_DASH} to {launch.script}, which knows only {_UNDERSCORE} ({where})"
        fix = f"torchrun and LOCAL_RANK of the environment; or add_argument({_DASH!r}, {_UNDERSCORE!r}, type=int)"
    else:
        required = any(_is_true(one) for one in call.keywords if one.arg == "required")
        reads = "LOCAL_RANK" in program.words or any("LOCAL_RANK" in one.words for one in project.python)
        if reads and not required:
            return
        what = "which requires it" if required else "where all ranks then take its default"
        text = f"torchrun passes no {names.pop()} to {launch.script}, {what} ({where})"
        fix = 'local_rank = int(os.environ["LOCAL_RANK"])'
    line, column = place(file, ran, launch.at)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=text,
        fix=fix,
        steps=(
            ExplanationStep(place=file.place(line), text=f"the launcher starts {launch.script}"),
            ExplanationStep(place=where, text=ast.unparse(call)[:100]),
        ),
        confidence=_confidence(launch.kind, text, project),
    )


def _confidence(kind: str, text: str, project: Project) -> Confidence:
    """CONFIRMED where PyTorch 2 is known to run it: which option its launcher passes changed with that."""
    if kind == "launch":
        return Confidence.CONFIRMED if any(one.words & _OF_TORCH_2 for one in project.audited) else Confidence.LIKELY
    return Confidence.CONFIRMED if "requires" in text else Confidence.LIKELY


def _arguments(file: ProjectFile) -> Iterator[tuple[ast.Call, set[str]]]:
    """Yields the add_argument calls of a file with the names they declare."""
    for node in walk(file.tree) if file.tree is not None else ():
        if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
            yield node, {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _is_true(keyword: ast.keyword) -> bool:
    return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
