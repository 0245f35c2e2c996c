"""The shell scripts that a file holds: itself, `run:` of a workflow, `command:` of a container, RUN and CMD. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import yaml

from diagnostics.static.launch_files import dockerfile, makefile
from diagnostics.static.launch_files.shell_commands import CommandContext, commands
from diagnostics.static.launch_files.shell_expansion import Value
from diagnostics.static.launch_files.shell_lexer import ShellError, Token
from diagnostics.static.launch_files.shell_parser import AndOr, Pipeline, Simple, parse
from diagnostics.static.launch_files.yaml_nodes import Found, documents, entries, items, mappings, scalar, text_line
from diagnostics.static.program.project_file import FileKind, ProjectFile

_SHEBANG = re.compile(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?(\w+)([^\n]*)")
_SBATCH = re.compile(r"#SBATCH\s+(--?[\w-]+)(?:[=\s]\s*([^\s#]+))?")
_TEXTS = ("run", "script", "before_script", "after_script", "setup", "commands", "bash", "shell_command")
_WORDS = (("command", "args"), ("entrypoint", "command"), ("entrypoint", "args"), ("command",), ("args",),
          ("entrypoint",), ("cmd",))  # fmt: skip
_STARTS = re.compile(
    r"\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|horovodrun|docker|bash|sh)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerOption:
    """One option of a Slurm script's head, `name` the long one without dashes."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One script. `home`: file, github, gitlab, container, yaml, dockerfile, makefile; `shell`: "" where not said."""

    file: ProjectFile
    home: str
    shell: str
    commands: tuple[CommandContext, ...]
    slurm: tuple[SchedulerOption, ...] = ()
    ignored: bool = False  # a recipe whose exit code make does not look at
    node: yaml.MappingNode | None = None  # the mapping it stands in
    around: tuple[yaml.MappingNode, ...] = ()

    def header(self, *names: str) -> SchedulerOption | None:
        """Returns the first of these options of the Slurm head, None without one."""
        return next((one for name in names for one in self.slurm if one.name == name), None)


_KNOWN: WeakKeyDictionary[ProjectFile, tuple[Script, ...]] = WeakKeyDictionary()


def embedded_scripts(file: ProjectFile) -> tuple[Script, ...]:
    """Returns the scripts of a file, parsed once; what is no shell is left out."""
    if file not in _KNOWN:
        read = {
            FileKind.SHELL: _of_shell,
            FileKind.YAML: _of_yaml,
            FileKind.DOCKERFILE: _of_dockerfile,
            FileKind.MAKEFILE: _of_makefile,
        }.get(file.kind)
        _KNOWN[file] = tuple(read(file)) if read else ()
    return _KNOWN[file]


# Shell and Slurm

_SHORT = {"-N": "nodes", "-n": "ntasks", "-G": "gpus", "-c": "cpus-per-task", "-p": "partition", "-t": "time"}


def _of_shell(file: ProjectFile) -> Iterator[Script]:
    shebang = _SHEBANG.match(file.text)
    shell = shebang[1] if shebang else "bash" if file.shown.endswith((".bash", ".sbatch", ".slurm")) else ""
    if shell.startswith(("python", "perl", "ruby", "node", "csh", "tcsh", "fish", "expect", "awk")):
        return
    found = _parsed(file.text, 1)
    words = shebang[2].split() if shebang else []
    options = _given_options(words)
    if found is not None:
        yield Script(
            file=file,
            home="file",
            shell=shell,
            commands=commands(found, options=options),
            slurm=tuple(_slurm(file.lines)),
        )


def _slurm(lines: list[str]) -> Iterator[SchedulerOption]:
    for number, row in enumerate(lines, 1):
        if row.startswith("#SBATCH") and (named := _SBATCH.match(row)):
            name = _SHORT.get(named[1], named[1].lstrip("-"))
            yield SchedulerOption(name=name, value=named[2] or "", line=number)


def _given_options(words: list[str]) -> frozenset[str]:
    line = " ".join(words)
    found = {"pipefail"} if "pipefail" in line else set()
    if re.search(r"(?:^|\s)-[a-z]*e|errexit", line):
        found.add("errexit")
    return frozenset(found)


def _parsed(text: str, line: int) -> tuple[AndOr, ...] | None:
    try:
        return parse(text.replace("\r\n", "\n"), line)
    except ShellError:
        return None


# YAML


def _of_yaml(file: ProjectFile) -> Iterator[Script]:
    if _STARTS.search(file.text) is None:
        return
    for document in documents(file):
        for found in mappings(document):
            yield from _in_mapping(file, found)


def _in_mapping(file: ProjectFile, found: Found) -> Iterator[Script]:
    node, path, around = found
    here = entries(node)
    home, shell, options = _runner(here, path, around)
    given = environment_of((*around, node))
    for key in _TEXTS:
        statements = _script_text(here.get(key))
        if statements:
            ran = commands(statements, options=options, environment=given)
            yield Script(file=file, home=home, shell=shell, commands=ran, node=node, around=around)
    keys = next((several for several in _WORDS if all(key in here for key in several)), ())
    words = _command(tuple(here[key] for key in keys))
    if words:
        ran = commands(words, environment=given)
        home = "container" if {"image", "build", "containers"} & here.keys() else home
        yield Script(file=file, home=home, shell="", commands=ran, node=node, around=around)


def _runner(
    here: Mapping[str, yaml.Node], path: tuple[str, ...], around: tuple[yaml.MappingNode, ...]
) -> tuple[str, str, frozenset[str]]:
    """Returns who runs the scripts of a mapping, in which shell and with which options."""
    if len(path) >= 4 and path[0] == "jobs" and path[2] == "steps":
        named = [entries(entries(entries(one).get("defaults")).get("run")).get("shell") for one in around[:3]]
        shell = scalar(here.get("shell")) or next((scalar(one) for one in reversed(named) if one is not None), "")
        # GitHub runs `bash -e {0}` where no shell is named, and `bash -eo pipefail {0}` where bash is.
        options = {"errexit", "pipefail"} if shell == "bash" else set(_given_options(shell.split()))
        options |= {"errexit"} if "{0}" not in shell else set()  # a shell that is written out has what it says
        return "github", shell.split()[0] if shell else "bash", frozenset(options)
    if "script" in here and len(path) == 1:
        return "gitlab", "bash", frozenset(["errexit", "pipefail"])
    return "yaml", "", frozenset()


def _script_text(node: yaml.Node | None) -> tuple[AndOr, ...]:
    texts = [node] if isinstance(node, yaml.ScalarNode) else items(node)
    found: list[AndOr] = []
    for one in texts:
        if not isinstance(one, yaml.ScalarNode) or _STARTS.search(one.value) is None:
            continue
        statements = _parsed(_one_row(one), text_line(one))
        found.extend(statements or ())
    return tuple(found)


def _one_row(node: yaml.ScalarNode) -> str:
    text = re.sub(r"\$\{\{[^\n]{0,400}?\}\}", "$__", node.value)  # an expression of the workflow
    return text if node.style in ("|", ">") else text.replace("\n", " ")


def _command(nodes: tuple[yaml.Node, ...]) -> tuple[AndOr, ...]:
    """Returns the one command that lists of words, or a line of words, are."""
    tokens: list[Token] = []
    for node in nodes:
        if isinstance(node, yaml.ScalarNode):
            if node.style in ("|", ">") or _STARTS.search(node.value) is None:
                return (_parsed(_one_row(node), text_line(node)) or ()) if _STARTS.search(node.value) else ()
            try:
                words = shlex.split(node.value, comments=False)
            except ValueError:
                return ()
            tokens.extend(_token(word, text_line(node), node.start_mark.column + 1) for word in words)
        else:
            tokens.extend(
                _token(one.value, text_line(one), one.start_mark.column + 1)
                for one in items(node)
                if isinstance(one, yaml.ScalarNode)
            )
    return _simple(tokens) if any(_STARTS.search(token.text) for token in tokens) else ()


def _token(word: str, line: int, column: int) -> Token:
    return Token("word", shlex.quote(word), line, column)


def _simple(tokens: list[Token]) -> tuple[AndOr, ...]:
    command = Simple(assignments=(), words=tuple(tokens))
    return (AndOr(pipelines=(Pipeline(commands=(command,)),)),)


def environment_of(around: tuple[yaml.MappingNode, ...]) -> dict[str, Value]:
    """Returns the variables that `env:` and `environment:` of these mappings set."""
    found: dict[str, Value] = {}
    for one in around:
        here = entries(one)
        for key in ("env", "environment", "envs"):
            for name, node in environment_entries(here.get(key)):
                found[name] = node if isinstance(node, str) else scalar(node)
    return found


def environment_entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node | str]]:
    """Yields the variables of `env:`: a mapping, a list of NAME=VALUE, or a list of name and value."""
    yield from entries(node).items()
    for one in items(node):
        pair = entries(one)
        if "name" in pair and "value" in pair:
            yield scalar(pair["name"]), pair["value"]
        name, equals, value = scalar(one).partition("=")
        if equals:
            yield name, value


# Dockerfiles


def _of_dockerfile(file: ProjectFile) -> Iterator[Script]:
    options: frozenset[str] = frozenset()
    shell = "sh"
    given: dict[str, Value] = {}
    entry: tuple[str, ...] = ()
    for one in dockerfile.instructions(file.text):
        match one.name:
            case "SHELL":
                shell = one.words[0].rpartition("/")[2] if one.words else shell
                options = _given_options(list(one.words[1:]))
            case "ENV" | "ARG":
                given.update(_set_variables(one))
            case "ENTRYPOINT" | "CMD" | "RUN":
                words = one.words if one.name != "CMD" else (*entry, *one.words) if one.words else ()
                statements = _instructed(one, words)
                entry = one.words if one.name == "ENTRYPOINT" else entry
                ran = commands(statements, options=options, environment=given)
                yield Script(file=file, home="dockerfile", shell=shell, commands=ran)


def _instructed(one: dockerfile.Instruction, words: tuple[str, ...]) -> tuple[AndOr, ...]:
    if words:
        return _simple([_token(word, one.line, one.column) for word in words])
    text = re.sub(r"^(?:\s*--\w+(?:=\S+)?)+", lambda flags: " " * len(flags[0]), one.text)
    here = re.match(r"\s*<<-?(['\"]?)(\w+)\1\s*\n(.*?)\n\2\s*$", text, re.DOTALL)
    if here:
        return _parsed(here[3], one.line + 1) or ()
    return _parsed(text, one.line) or ()


def _set_variables(one: dockerfile.Instruction) -> dict[str, Value]:
    """Returns what ENV A=b C=d, ENV A b or ARG A=b sets."""
    if one.name == "ENV" and "=" not in one.text.split(" ")[0]:
        name, _, value = one.text.strip().partition(" ")
        return {name: value.strip()}
    found = _parsed("export " + one.text.strip(), one.line)
    ran = commands(found or ())
    last = commands((*(found or ()), *(parse("true"))))[-1:] if ran else ()
    return {name: last[0].variables.get(name) for name in sorted(last[0].exported)} if last else {}


# Makefiles


def _of_makefile(file: ProjectFile) -> Iterator[Script]:
    if _STARTS.search(file.text) is None:
        return
    shell, flags = makefile.shell_of(file.text)
    options = _given_options(flags)
    for one in makefile.recipes(file.text):
        found = _parsed(one.text, one.line) if _STARTS.search(one.text) else None
        if found is not None:
            ran = commands(found, options=options)
            yield Script(file=file, home="makefile", shell=shell, commands=ran, ignored=one.ignored)
