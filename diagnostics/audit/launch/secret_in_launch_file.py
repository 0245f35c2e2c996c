"""A key, token or password is written into a file that starts the training.

What it does: flags literal keys in shell scripts, YAML, Dockerfiles (ENV and ARG stay in the image) and in Python's
os.environ[...] = "...", wandb.login(key="...") and the like; and Python that puts a key of its environment into the
text of a script, f"export WANDB_API_KEY={os.environ['WANDB_API_KEY']}". The value itself is never shown.

Why it matters: the file is committed, copied to the cluster and pasted into an issue; whoever reads it has the account.
A key that was once in a repository has to be taken back, not only deleted.

Bad:

    export WANDB_API_KEY=<the forty characters themselves>

Good:

    export WANDB_API_KEY="$(cat ~/.secrets/wandb)"     # or: wandb login, once, on the machine

What it cannot see: secrets in files that are only sourced or mounted, and values that look like nothing in particular.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from diagnostics.agent.shared.secret_lines import hidden_words
from diagnostics.agent.shared.secret_names import WEAK, strength
from diagnostics.agent.shared.secret_patterns import is_secret_variable
from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files import dockerfile
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts, environment_entries
from diagnostics.static.launch_files.literal_secrets import is_secret_literal
from diagnostics.static.launch_files.rank_environment import environ_key, is_environ
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.yaml_nodes import documents, entries, line_of, mappings, scalar
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A606"
NAME = "secret-in-launch-file"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.PYTHON})
CHECKLIST = "no keys or passwords in the source"
_EXPORT = re.compile(r"(?:^|\n|;)[^\S\n]*export\s+([A-Za-z_]\w*)=['\"]?$")
_ANY = "0f3a9c81d2e47b65a9"  # stands for the value, which is not known here
_WRITES = ("write_text", "write", "writelines", "onstart")
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
# Options that take a secret by the name under which a cluster keeps it: `--env-secret API_KEY=name-of-it`.
_TAKES_NAMES = re.compile(r"--[a-z-]{0,40}secrets?")
_WORTH = re.compile(r"key|token|secret|passw|pwd|login|credential|auth|hf_|ghp_|sk-|AKIA|glpat", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the secrets that are written into a file."""
    if _WORTH.search(file.text) is None:
        return
    match file.kind:
        case FileKind.PYTHON:
            yield from _in_python(file, project)
        case FileKind.YAML:
            yield from _in_yaml(file)
        case FileKind.DOCKERFILE:
            yield from _in_dockerfile(file)
    for script in embedded_scripts(file):
        for ran in script.commands:
            yield from _in_command(file, ran)


def _in_command(file: ProjectFile, ran: CommandContext) -> Iterator[Violation]:
    words = ran.command.words
    named_only = {id(word) for option, word in pairwise(words) if _TAKES_NAMES.fullmatch(option.text)}
    for token in (*ran.command.assignments, *words):
        if id(token) in named_only:
            continue
        named = _NAMED.match(token.text.removeprefix("-e").removeprefix("--env="))
        if named is not None and not token.text.startswith("--"):
            yield from _hit(file, token.line, named[1], named[2], column=token.column)
    shown = hidden_words(list(ran.words))
    for index, (word, safe) in enumerate(zip(ran.words, shown, strict=True)):
        before = ran.words[index - 1] if index else ""
        option, equals, value = word.partition("=")
        if word != safe and not _NAMED.match(word) and ran.words[:2] != ("wandb", "login"):
            line, column = place(file, ran, index)
            named_here = bool(equals) and option.startswith("-")  # `?alt=media&token=...` has one, too
            name = option if named_here else before
            name = "password" if name == "-p" else name.lstrip("-").replace("-", "_")
            yield from _hit(file, line, name, value if named_here else word, column=column)
    if ran.words[:2] == ("wandb", "login") and len(ran.words) > 2:
        yield from _hit(file, place(file, ran, 0)[0], "wandb login", ran.words[-1])


def _in_yaml(file: ProjectFile) -> Iterator[Violation]:
    for document in documents(file):
        for mapping, _, _ in mappings(document):
            here = entries(mapping)
            for name, node in here.items():
                if node.tag.startswith("!"):
                    continue  # what a program makes of it: `!Ref Key`, `!GetAtt Function.Arn`, `!vault |`
                yield from _hit(file, line_of(node), name, scalar(node))
            for key in ("env", "environment"):
                for name, given in environment_entries(here.get(key)):
                    line = line_of(here[key] if isinstance(given, str) else given)
                    if isinstance(given, str):
                        line = next((n for n in range(line, line + 200) if name in file.line(n)), line)
                    yield from _hit(file, line, name, given if isinstance(given, str) else scalar(given))


def _in_dockerfile(file: ProjectFile) -> Iterator[Violation]:
    for one in dockerfile.instructions(file.text):
        if one.name not in ("ENV", "ARG", "LABEL"):
            continue
        for offset, row in enumerate(one.text.split("\n")):
            pairs = re.findall(r"(?<!\w)([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S+)", row)
            if not pairs and one.name == "ENV" and len(row.split()) == 2:
                pairs = [tuple(row.split())]
            for name, value in pairs:
                yield from _hit(file, one.line + offset, name, value)


def _in_python(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for function in project.functions_in(file):
        for node in function.nodes_of((ast.Assign, ast.Call, ast.JoinedStr)):
            for name, value in _values(node):
                text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
                if is_secret_literal(name, text) is not Confidence.POSSIBLE:  # tokens of models, and names of variables
                    yield from _hit(file, value.lineno, name, text, column=value.col_offset + 1)
            if isinstance(node, ast.JoinedStr) and not file.words.isdisjoint(_WRITES):
                yield from _into_script(file, node)


def _into_script(file: ProjectFile, text: ast.JoinedStr) -> Iterator[Violation]:
    """Yields f"export API_KEY={os.environ['API_KEY']}": the line of a script with the value itself."""
    for before, value in pairwise(text.values):
        named = _EXPORT.search(str(before.value)) if isinstance(before, ast.Constant) else None
        source = _variable(value.value) if isinstance(value, ast.FormattedValue) else ""
        if named is not None and is_secret_variable(named[1], _ANY) and is_secret_variable(source, _ANY):
            yield Violation(
                file=file,
                line=text.lineno,
                column=text.col_offset + 1,
                title=f"the value of {source} is written into a script: whoever reads the file, or the page of the "
                "machine that is started with it, has it",
                fix=f"hand {named[1]} over beside the script: in the environment of the machine, or in a file that "
                "only its user reads",
                confidence=Confidence.LIKELY,
                severity=Severity.WARNING,
            )


def _variable(value: ast.expr) -> str:
    """Returns KEY of os.environ["KEY"], os.environ.get("KEY") and os.getenv("KEY")."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args:
        asked = value.func.attr == "getenv" or (value.func.attr == "get" and is_environ(value.func.value))
        first = value.args[0]
        return str(first.value) if asked and isinstance(first, ast.Constant) else ""
    return environ_key(value)


def _values(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields what is set in the environment, given to a login, or assigned to a name."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        name = environ_key(target) or getattr(target, "id", "") or getattr(target, "attr", "")
        if name:
            yield name, node.value
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and is_environ(node.func.value):
        if len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value), node.args[1]
        for argument in node.args:
            if isinstance(argument, ast.Dict):
                for key, value in zip(argument.keys, argument.values, strict=True):
                    yield (str(key.value) if isinstance(key, ast.Constant) else ""), value
    given = [one for one in node.keywords if one.arg and _is_text(one.value) and strength(one.arg) >= WEAK]
    if not given and not node.args:
        return
    called = ast.unparse(node.func) if (given or last_name(node.func) == "login") and _is_named(node.func) else ""
    for keyword in given:
        if keyword.arg:
            prefix = "wandb_" if called.startswith("wandb") else ""
            yield f"{prefix}{keyword.arg}" if keyword.arg != "key" or prefix else "", keyword.value
    if last_name(node.func) == "login" and node.args:
        yield f"{called}_token", node.args[0]


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_named(value: ast.expr) -> bool:
    return isinstance(value, (ast.Attribute, ast.Name))


def _hit(file: ProjectFile, line: int, name: str, value: str, *, column: int = 1) -> Iterator[Violation]:
    confidence = is_secret_literal(name, value)
    if confidence is None:
        return
    length = len(value.strip().strip("\"'"))
    shown = name if name and len(name) < 60 else "a value"
    image = " or gets the image" if file.kind is FileKind.DOCKERFILE else ""
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{shown}: a secret in the open, {length} characters long; whoever reads the file{image} has it",
        fix="take the key back where it was made, and read the new one from the environment or from a file outside the "
        "repository",
        steps=(ExplanationStep(place=file.place(line), text=f"{shown} = <hidden>"),),
        confidence=confidence,
        severity=Severity.WARNING if confidence is Confidence.POSSIBLE else None,
    )
