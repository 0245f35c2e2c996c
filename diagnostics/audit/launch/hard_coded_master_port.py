"""The port on which the ranks meet is written into the source.

What it does: flags a literal MASTER_PORT, --master-port, --main-process-port, --rdzv-endpoint and tcp:// address of
ranks, in launch scripts, YAML and Python.

Why it matters: two jobs on one machine, or a new one beside the remains of a dead one, both want the port: "address
already in use", or, worse, the ranks of two jobs meet each other.

Bad:

    torchrun --nproc-per-node 2 --master-port 29500 train.py

Good:

    torchrun --standalone --nproc-per-node 2 train.py
    export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))

What it cannot see: whether anything else ever runs on the machine. Where each job has machines or containers of its
own a fixed port is normal: what names several machines, Dockerfiles, compose and Kubernetes are only possible.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launch_line import literal_port
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.rank_environment import environ_key, is_environ
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A601"
_LARGEST = 65535
_MEETS = frozenset(["init_process_group", "TensorPipeRpcBackendOptions", "RpcBackendOptions"])
NAME = "hard-coded-master-port"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.PYTHON})
CHECKLIST = "each job takes a port of its own"
_OPTIONS = ("--master-port", "--main-process-port", "--rdzv-endpoint", "-master-port")
_WORDS = ("MASTER_PORT", "init_method", "init_process_group", "dist_url", "torchrun", "run", "launch")
_MOST_GPUS = 8  # who asks for so many has the machine alone
_MOST_OF_SEVERAL = 4  # and who asks for so many on each of several machines: jobs over machines take whole ones
_ASSIGNED = re.compile(r"MASTER_PORT=(['\"]?)(\d{2,5})\1$")
_TCP = re.compile(r"tcp://(\[[^\]]+\]|[^:/\s]+):(\d{2,5})/?$")
_LOOPBACK = re.compile(r"^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1|\[::1\])$")
_FIX = (
    "torchrun --standalone takes a free one; or derive it from the job: MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))"
)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the literal ports of a file on which ranks meet."""
    if file.kind is FileKind.PYTHON:
        yield from _in_python(file, project)
        return
    for script in embedded_scripts(file):
        alone = _on_one_machine(script)
        met = (alone or _shares_machines(script)) and _is_used(script)
        for ran in script.commands:
            yield from _assigned(file, script, ran, met)
            for launch in launcher_calls(ran.words):
                yield from _given(file, script, ran, launch, alone)


# Scripts


def _assigned(file: ProjectFile, script: Script, ran: CommandContext, alone: bool) -> Iterator[Violation]:
    """MASTER_PORT=29500, in front of a command, alone, or exported."""
    guarded = ran.tested or any(command.kind in ("if", "case", "function") for command in ran.around)
    for token in (*ran.command.assignments, *ran.command.words[1:]):
        found = _ASSIGNED.match(token.text)
        if found is None or (ran.words and ran.words[0] in ("echo", "printf")) or guarded or _is_default(ran):
            continue
        column = token.column if file.kind is FileKind.SHELL else 1
        yield _hit(file, token.line, column, f"MASTER_PORT is always {found[2]}", script, alone)


def _is_used(script: Script) -> bool:
    """Whether a program takes MASTER_PORT from its environment, or a launcher is handed a literal port.

    torchrun does not look at the variable: it sets it.
    """
    for ran in script.commands:
        layers = launcher_calls(ran.words)
        if any(layer.options.get(name, "").rpartition(":")[2].isdigit() for layer in layers for name in _OPTIONS):
            return True
        plain = bool(layers) and all(layer.kind in ("python", "srun", "mpirun", "mpiexec") for layer in layers)
        if plain and ran.value("MASTER_PORT").isdigit():
            return True
    return False


def _shares_machines(script: Script) -> bool:
    """Whether Slurm may put two such jobs on one machine: nothing asks for whole ones."""
    memory, gpus = script.header("mem"), script.header("gpus-per-node", "gres", "gpus")
    if script.header("nodes") is None or gpus is None or script.header("exclusive", "nodelist", "w") is not None:
        return False
    count = gpus.value.rpartition(":")[2]
    nodes = script.header("nodes")
    most = _MOST_GPUS if nodes is None or nodes.value == "1" else _MOST_OF_SEVERAL
    whole = (memory is not None and memory.value == "0") or not count.isdigit() or int(count) >= most
    return not whole and any(one.words[:1] == ("srun",) for one in script.commands)


def _is_default(ran: CommandContext) -> bool:
    """`[ -z "$MASTER_PORT" ] && MASTER_PORT=29500` and `: ...`."""
    return bool(ran.and_or.operators)


def _given(file: ProjectFile, script: Script, ran: CommandContext, launch: Launch, alone: bool) -> Iterator[Violation]:
    for name in _OPTIONS:
        port = launch.options.get(name, "").rpartition(":")[2]
        if not port.isdigit() or port == "0" or "--standalone" in launch.options:
            continue
        index = next((at for at, word in enumerate(ran.words) if _spelled(word) == name), launch.at)
        line, column = place(file, ran, index)
        if port not in file.line(line) and (_takes_options(script) or any(_ASSIGNED.search(row) for row in file.lines)):
            continue  # a default that the user may set, or it comes from MASTER_PORT=, which is told there
        machines = launch.machines == 1
        yield _hit(file, line, column, f"{launch.kind} {name} is always {port}", script, alone and machines)
    for index, word in enumerate(ran.words[launch.at :], launch.at):
        tcp = _TCP.search(word)
        if tcp is not None and word.startswith(("tcp://", "--")) and _LOOPBACK.match(tcp[1]) and tcp[2] != "0":
            line, column = place(file, ran, index)
            yield _hit(file, line, column, f"the ranks always meet at {tcp[0]}", script, alone)
            return


def _takes_options(script: Script) -> bool:
    """Whether the script's variables are options of its command line, as parse_options.sh of Kaldi's recipes has it."""
    return any(
        one.words[:1] in ((".",), ("source",)) and one.words[1:2] and one.words[1].endswith("parse_options.sh")
        for one in script.commands
    )


def _spelled(word: str) -> str:
    name = word.partition("=")[0]
    return "--" + name[2:].replace("_", "-") if name.startswith("--") else name


def _on_one_machine(script: Script) -> bool:
    """Whether nothing in a script names a second machine, and whether its machine is no container of its own."""
    nodes = script.header("nodes")
    if (nodes is not None and nodes.value != "1") or script.home in ("container", "dockerfile"):
        return False
    for ran in script.commands:
        address = ran.value("MASTER_ADDR") or next(
            (one.option("--master-addr", "--main-process-ip") for one in launcher_calls(ran.words)), ""
        )
        endpoint = next((one.option("--rdzv-endpoint") for one in launcher_calls(ran.words)), "").rpartition(":")[0]
        for host in (address, endpoint):
            if host and not _LOOPBACK.match(host):
                return False
        if any(one.machines != 1 or one.option("--node-rank") not in ("", "0") for one in launcher_calls(ran.words)):
            return False
        if any("scontrol" in token.text or "SLURM" in token.text for token in ran.command.assignments):
            return False
    return True


def _hit(file: ProjectFile, line: int, column: int, what: str, script: Script, alone: bool) -> Violation:
    unsure = not alone or script.home == "github"
    return Violation(
        file=file,
        line=line,
        column=column,
        title=_told(what),
        fix=_FIX,
        confidence=Confidence.POSSIBLE if unsure else Confidence.LIKELY,
        severity=Severity.INFO if unsure else None,
    )


def _told(what: str) -> str:
    number = re.search(r"is always (\d+)$", what)
    if number is not None and int(number[1]) > _LARGEST:
        return f"{what}, and no port is larger than {_LARGEST}: nothing can meet there"
    return f"{what}: a second job on the machine, or what is left of the last one, holds it"


# Python


def _in_python(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if file.words.isdisjoint(_WORDS):
        return
    told = _says_where(file, project)
    for function in project.functions_in(file):
        for node in function.own_nodes:
            found = _set_in_python(node)
            words = isinstance(node, (ast.List, ast.Tuple))
            if found is not None and "MASTER_PORT" in found[1] and told:
                continue  # nobody reads it
            if found is not None and (words or not _is_guarded(file, node)):
                place_, what = found
                yield violation(
                    file,
                    place_,
                    _told(what),
                    "--standalone takes a free port"
                    if words
                    else 'os.environ.setdefault("MASTER_PORT", ...), or bind port 0 and take what the system gives',
                    confidence=Confidence.POSSIBLE if file.is_test else Confidence.LIKELY,
                    severity=Severity.INFO if file.is_test else None,
                )


def _says_where(file: ProjectFile, project: Project) -> bool:
    """Whether the ranks of a file meet where an `init_method` says, `tcp://host:port` or a file, and only there."""
    given = [
        [one.value for one in call.keywords if one.arg == "init_method"]
        for call, _ in project.calls_in(file)
        if last_name(call.func) in _MEETS
    ]
    module = project.module_of(file)
    texts = [
        _text(made)
        for values in given
        for value in values
        for made in ([value] if not isinstance(value, ast.Name) else _held(value.id, module, file, project))
    ]
    return bool(given) and all(given) and bool(texts) and all(one.startswith(("tcp://", "file://")) for one in texts)


def _held(name: str, module: Function, file: ProjectFile, project: Project) -> list[ast.expr]:
    return [one for scope in (module, *project.functions_in(file)) for one in scope.assigned.get(name, ())]


def _set_in_python(node: ast.AST) -> tuple[ast.AST, str] | None:
    if isinstance(node, ast.Assign) and environ_key(node.targets[0]) == "MASTER_PORT":
        port = _literal_port(node.value)
        return (node, f"MASTER_PORT is always {port}") if port else None
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_environ(node.func.value)
    if isinstance(node, ast.Call) and call and last_name(node.func) == "update":
        return next(_ports_in(node), None)
    if isinstance(node, ast.Call) and last_name(node.func) in _MEETS:
        for value in (*node.args[1:2], *(one.value for one in node.keywords if one.arg == "init_method")):
            tcp = _TCP.search(_text(value))
            if tcp is not None and tcp[2] != "0" and _LOOPBACK.match(tcp[1]):
                return value, f"the ranks always meet at {tcp[0]}"
    return literal_port(node)


def _ports_in(call: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    """`os.environ.update(MASTER_PORT="29500")`, or with a dictionary."""
    pairs = [(one.arg, one.value) for one in call.keywords]
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            pairs += [(_text(key), value) for key, value in zip(argument.keys, argument.values, strict=True) if key]
    for name, value in pairs:
        port = _literal_port(value)
        if name == "MASTER_PORT" and port:
            yield value, f"MASTER_PORT is always {port}"


def _literal_port(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and last_name(value.func) == "str" and len(value.args) == 1:
        value = value.args[0]
    text = str(value.value) if isinstance(value, ast.Constant) else ""
    return text if text.isdigit() and text != "0" else ""


def _text(value: ast.AST) -> str:
    """Returns a literal, of an f-string what stands behind its last value."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return ""


def _is_guarded(file: ProjectFile, node: ast.AST) -> bool:
    """Whether it is a default: below `if "MASTER_PORT" not in os.environ`, or for a world of one process."""
    one: ast.AST | None = node
    while one is not None:
        one = file.parents.get(one)
        if isinstance(one, (ast.If, ast.IfExp, ast.ExceptHandler)):
            test = ast.unparse(one.test) if not isinstance(one, ast.ExceptHandler) else "MASTER"
            if re.search(r"MASTER|RANK|environ|world_size|distributed|num_\w+|port", test, re.IGNORECASE):
                return True
    return False
