"""Objects from outside, or in every training step, sent by a collective that pickles.

What it does: advises where all_gather_object(), broadcast_object_list(), scatter_object_list(), gather_object() and the
object lists of send and recv pass on what was unpickled, came from a socket or a request, or was typed in, and where
they stand in a training loop.

Why it matters: these operations pickle on one rank and unpickle on the others, and unpickling runs code: whoever can
reach the port or choose the object runs it on every rank. They are slow as well: two collectives and a copy through the
processor each time.

Bad:

    task = pickle.load(urllib.request.urlopen(args.url))
    dist.broadcast_object_list([task], src=0)

Good:

    task = json.loads(urllib.request.urlopen(args.url).read())
    numbers = torch.tensor(task["numbers"])
    dist.broadcast(numbers, src=0)

What it cannot see: objects that come from outside through other functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls

CODE = "A212"
NAME = "object-collective-on-untrusted-input"
SEVERITY = Severity.INFO
WORDS = tuple(operations.PICKLED)
_OBJECT = {op: argument for op, argument in operations.PICKLED.items() if op not in operations.RECEIVES}
_OUTSIDE = {"pickle.load": "unpickled", "pickle.loads": "unpickled", "dill.load": "unpickled",
            "joblib.load": "unpickled", "cloudpickle.load": "unpickled", "cloudpickle.loads": "unpickled",
            "input": "typed in",
            "requests.get": "fetched over the network", "requests.post": "fetched over the network",
            "urllib.request.urlopen": "fetched over the network"}  # fmt: skip
_PLAIN = {"json.load": "read from a file", "json.loads": "read from text", "yaml.safe_load": "read from a file",
          "yaml.load": "read from a file"}  # fmt: skip
_SOCKETS = ("recv", "recv_bytes", "get_json")
_STEPS = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the object collectives that pass on what came from outside, or that stand in a training loop."""
    for one in operation_calls(file, project):
        if one.op not in _OBJECT:
            continue
        value = one.argument(_OBJECT[one.op])
        source = _source(value, one.function, project) if value is not None else None
        if source is not None:
            yield _outside(one, *source, file)
        elif _in_training_step(one, file):
            yield violation(
                file, one.call,
                f"{one.op}() in every training step pickles, copies through the processor and meets twice",
                "send tensors: dist.all_gather, dist.broadcast; or call it once in a while, outside of the step",
                confidence=Confidence.LIKELY,
            )  # fmt: skip


def _outside(one: CollectiveCallSite, call: ast.Call, told: str, sure: Confidence, file: ProjectFile) -> Violation:
    return violation(
        file, one.call,
        f"{one.op}() pickles what was {told}: whoever controls it, or the port, runs code on every rank",
        "broadcast tensors or checked text, and keep the job's ports closed to others",
        steps=(step(file, call, f"{told} here"),), confidence=sure,
    )  # fmt: skip


def _source(
    value: ast.expr, function: Function, project: Project, rounds: int = _STEPS
) -> tuple[ast.Call, str, Confidence] | None:
    """Returns the call by which a value came in from outside, in words, and how much that says."""
    for node in walk(value):
        if isinstance(node, ast.Call):
            name = project.name(node.func, function)
            if name in _OUTSIDE or (last_name(node.func) in _SOCKETS and "sock" in ast.unparse(node.func).lower()):
                return node, _OUTSIDE.get(name, "received over the network"), Confidence.LIKELY
            if name in _PLAIN:
                return node, _PLAIN[name], Confidence.POSSIBLE
        if isinstance(node, ast.Name) and rounds:
            for made in function.assigned.get(node.id, ()):
                found = _source(made, function, project, rounds - 1) if made is not value else None
                if found is not None:
                    return found
    return None


def _in_training_step(one: CollectiveCallSite, file: ProjectFile) -> bool:
    """Whether a loop around the call takes an optimizer step each time the call is reached."""
    below: ast.AST = one.call
    around = file.parents.get(below)
    while around is not None and around is not one.function.syntax:
        if isinstance(around, (ast.If, ast.Try)):
            return False  # once in a while
        if isinstance(around, (ast.For, ast.While)):
            called = {last_name(node.func) for node in _own(around) if isinstance(node, ast.Call)}
            return {"backward", "step"} <= called
        around = file.parents.get(around)
    return False


def _own(loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """Yields what a loop does in each round, without its inner loops: those have rounds of their own."""
    waiting: list[ast.AST] = [*loop.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.Lambda)):
            continue
        yield node
        waiting += children(node)
