"""A launch line with `$NAME` is run by no shell: the program is given the letters.

What it does: flags `$NAME` and `${NAME}` in `command` and `args` of a Kubernetes container that starts a training, and
in the exec form of CMD, ENTRYPOINT and RUN in a Dockerfile, where the program is not a shell.

Why it matters: Kubernetes puts values in place of `$(NAME)` only, and Docker's exec form in place of nothing. torchrun
is told to meet at a host of the name "$LEADER", or that its number is "$NODE_RANK", and ends, or waits for nobody.

Bad:

    command: ["torchrun"]
    args: ["--node-rank=$NODE_RANK", "train.py"]

Good:

    args: ["--node-rank=$(NODE_RANK)", "train.py"]

What it cannot see: images whose entry point is a script that reads its arguments again. Left alone are files in which
such names stand elsewhere, too, `image: $IMAGE`, which envsubst fills in, and names that the container is not given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files import dockerfile
from diagnostics.static.launch_files.embedded_scripts import environment_entries
from diagnostics.static.launch_files.launcher_commands import base, launcher_calls
from diagnostics.static.launch_files.shell_commands import SHELLS
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, items, line_of, mappings, scalar
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A619"
NAME = "variable-without-shell"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.YAML, FileKind.DOCKERFILE})
CHECKLIST = "variables of a launch line are expanded by whoever runs it"
_VARIABLE = re.compile(r"(?<!\$)\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)")
_RUN = frozenset(["command", "args"])
# What Kubernetes, Kubeflow and images set for a container, without a line in its `env`.
_SET_BY_OPERATORS = frozenset(
    ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK", "NODE_RANK", "HOSTNAME", "JOB_COMPLETION_INDEX",
     "PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NPROC_PER_NODE", "HOME", "USER"]
)  # fmt: skip
_INSTRUCTIONS = ("CMD", "ENTRYPOINT", "RUN")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the words that nothing expands."""
    if file.kind is FileKind.DOCKERFILE:
        yield from _in_dockerfile(file)
        return
    found = documents(file) if "$" in file.text else ()
    if any(_is_template(one) for one in found):
        return
    for document in found:
        if {"apiVersion", "kind"} <= entries(document).keys():
            for node, _, _ in mappings(document):
                yield from _in_container(file, node)


def _is_template(document: yaml.Node) -> bool:
    """Whether `$NAME` stands where no program reads it, `image: $IMAGE`: envsubst puts the values in place before."""
    return any(_VARIABLE.search(scalar(value)) for node, _, _ in mappings(document) for key, value in
               entries(node).items() if key not in _RUN)  # fmt: skip


def _in_container(file: ProjectFile, node: yaml.MappingNode) -> Iterator[Violation]:
    here = entries(node)
    if "image" not in here:
        return
    words = [one for key in ("command", "args") for one in items(here.get(key))]
    if not _starts([scalar(one) for one in words]):
        return
    given = {name for name, _ in environment_entries(here.get("env"))} | {
        scalar(entries(one).get("name")) for one in items(here.get("env"))
    }
    found = next((one for one in words if _name(scalar(one)) in given | _SET_BY_OPERATORS), None)
    if found is not None:
        name = _name(scalar(found))
        yield _hit(file, line_of(found), column_of(found), name, "Kubernetes", f"$({name})")


def _in_dockerfile(file: ProjectFile) -> Iterator[Violation]:
    entry: Sequence[str] = ()
    for one in dockerfile.instructions(file.text):
        if one.name not in _INSTRUCTIONS:
            continue
        whole = [*entry, *one.words] if one.name == "CMD" and one.words else one.words
        entry = one.words if one.name == "ENTRYPOINT" else entry
        found = next((word for word in one.words if _VARIABLE.search(word)), None)
        if found is not None and _starts(whole):
            name = _name(found)
            line = next((number for number in range(one.line, one.line + one.text.count("\n") + 1)
                         if found in file.line(number)), one.line)  # fmt: skip
            yield _hit(file, line, file.line(line).find(found) + 1, name, "the exec form of Docker",
                       f'["sh", "-c", "exec ... ${name} ..."]')  # fmt: skip


def _starts(words: Sequence[str]) -> bool:
    """Whether some words start Python or ranks, with no shell around."""
    launches = launcher_calls(words)
    return bool(launches) and not any(base(word) in SHELLS for word in words[: launches[0].at + 1])


def _name(word: str) -> str:
    found = _VARIABLE.search(word)
    return found[0].strip("${}") if found is not None else ""


def _hit(file: ProjectFile, line: int, column: int, name: str, who: str, instead: str) -> Violation:
    return Violation(
        file=file,
        line=line,
        column=max(column, 1),
        title=f"no shell reads this line, and {who} puts nothing in place of ${name}: the program gets the letters",
        fix=f"{instead}, or a shell that expands it",
        confidence=Confidence.LIKELY,
    )
