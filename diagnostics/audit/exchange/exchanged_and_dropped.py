"""What the ranks have exchanged comes back as the result of a call, and the result is dropped.

What it does: flags a statement that calls an exchange which gives its result back and leaves what it was given as it
was, and does nothing with it: `torch.distributed.nn.functional` and `_functional_collectives`, `gather()` and
`gather_for_metrics()` of Accelerate, `allreduce` and `allgather` of Horovod, `all_gather` of Lightning; also inside of
`tuple()`, `torch.cat()` and the like, and a function of the project that exchanges a copy and returns it.

Why it matters: such a call changes nothing for who does not read its result. A `return` or an assignment was forgotten:
the function goes on to its last line and gives back what this rank has. A contrastive loss then has the negatives of
one GPU, a metric is that of one rank, and nothing fails.

Bad:

    def all_gather(tensor):
        if is_distributed():
            tuple(dist_nn.all_gather(tensor))
        return (tensor,)

Good:

        if is_distributed():
            return tuple(dist_nn.all_gather(tensor))

What it cannot see: results that are given a name which nothing reads. A tensor of constants, as `torch.zeros(1)`, is
only there for the ranks to meet. What writes its result into its arguments is A228's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_call
from diagnostics.static.spmd.library_objects import LibraryType, LibraryTypes

CODE = "A240"
NAME = "exchanged-and-dropped"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
_HOMES = ("torch.distributed.nn.functional.", "torch.distributed.nn.", "torch.distributed._functional_collectives.")
_LIBRARIES = frozenset(["accelerate.utils.gather", "horovod.torch.allreduce", "horovod.torch.allgather",
                        "horovod.torch.broadcast"])  # fmt: skip
_METHODS = frozenset(
    [(LibraryType.ACCELERATOR, "gather"), (LibraryType.ACCELERATOR, "gather_for_metrics"),
     (LibraryType.LIGHTNING_MODULE, "all_gather"), (LibraryType.FABRIC, "all_gather")]
)  # fmt: skip
# Parameters into which an exchange writes: what has one of them is no exchange that only gives back.
_WRITTEN = frozenset(["output", "output_tensor", "output_tensor_list"])
WORDS = (*operations.PARAMETERS, "allreduce", "allgather", "gather_for_metrics", "all_gather_tensor")
_PURE = frozenset(["tuple", "list", "sum", "len", "float", "int"])
_PURE_TORCH = frozenset(["torch.cat", "torch.concat", "torch.stack", "torch.sum", "torch.mean", "torch.vstack"])
_PURE_METHODS = frozenset(
    ["mean", "sum", "detach", "cpu", "float", "item", "tolist", "numpy", "flatten", "view", "reshape", "squeeze",
     "to", "clone", "max", "min", "contiguous"]
)  # fmt: skip
_COPIES = frozenset(["clone", "detach", "deepcopy", "tensor", "zeros_like", "empty_like", "cat", "stack", "new_tensor"])
_CONSTANT = frozenset(["zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the exchanges that nobody reads."""
    if file.is_test:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Expr):
            call = _exchange(node.value, function, project) if isinstance(node, ast.Expr) else None
            if call is None or not _sends_something(call, function):
                continue
            inner = next((each for one in project.targets(call, function) for each in _inside(one, project)), None)
            yield violation(
                file,
                node,
                f"{last_name(call.func)}() gives back what the ranks exchanged, and nothing is done with it: "
                f"{ast.unparse(call.args[0])[:60]} stays what this rank has",
                "return the result, or give it a name: the call leaves its argument as it was",
                steps=(step(project.file_with(inner[1]), inner[0], "a copy is exchanged"),) if inner else (),
                confidence=Confidence.LIKELY,
            )


def _exchange(value: ast.expr, function: Function, project: Project) -> ast.Call | None:
    """Returns the exchange of which a value is made, without anything else being done on the way."""
    match value:
        case ast.Call(func=func) if _gives_back(value, function, project):
            return value
        case ast.Call(func=func, args=args) if (isinstance(func, ast.Name) and func.id in _PURE) or project.name(
            func, function
        ) in _PURE_TORCH:
            return next((one for one in (_exchange(each, function, project) for each in args) if one), None)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _PURE_METHODS:
            return _exchange(inner, function, project)
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            return _exchange(inner, function, project)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return next((one for one in (_exchange(each, function, project) for each in elts) if one), None)
        case ast.ListComp(elt=inner):
            return _exchange(inner, function, project)
    return None


def _gives_back(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call exchanges, gives back the result, and leaves its argument as it was."""
    name = project.name(call.func, function)
    if name in _LIBRARIES:
        return True
    home = next((one for one in _HOMES if name.startswith(one)), "")
    if home:
        told = name[len(home) :]
        written = any(one in _WRITTEN for one in operations.PARAMETERS.get(told, ()))
        functional = home == _HOMES[-1]
        known = told in operations.PARAMETERS or (functional and told.removesuffix("_tensor") in operations.PARAMETERS)
        return known and (functional or not written)
    if isinstance(call.func, ast.Attribute):
        kinds = project.fact(LibraryTypes).of(call.func.value, function)
        if any((kind, call.func.attr) in _METHODS for kind in kinds):
            return True
    targets = project.targets(call, function)
    return len(targets) == 1 and any(True for _ in _inside(targets[0], project)) and _returns_copy(targets[0], project)


def _inside(function: Function, project: Project) -> Iterator[tuple[ast.Call, Function]]:
    for node in function.nodes_of(ast.Call):
        if isinstance(node, ast.Call):
            home = project.name(node.func, function).startswith(_HOMES)
            if home or operation_call(node, function, project) is not None:
                yield node, function


def _returns_copy(function: Function, project: Project) -> bool:
    """Whether all that a function does is to exchange copies of what it is given, and to return them."""
    given = set(function.parameters)
    if function.owner is not None or function.nodes_of((ast.For, ast.While, ast.With, ast.Try, ast.AsyncFor)):
        return False  # it may do more than that
    statements = [one.value for one in function.nodes_of(ast.Expr) if isinstance(one, ast.Expr)]
    if any(isinstance(one, ast.Call) and operation_call(one, function, project) is None for one in statements):
        return False
    returned = [one.value for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value]
    if not returned or function.is_generator or not given:
        return False
    if all(isinstance(one, ast.Constant) or _root(one) in given for one in returned):
        return False
    own = {name for name, values in function.assigned.items() if all(map(_is_copy, values))} - given
    exchanged = 0
    for node in function.nodes_of(
        (ast.Call, ast.Assign, ast.AugAssign, ast.Global, ast.Nonlocal, ast.Raise, ast.Yield)
    ):
        if isinstance(node, ast.Call):
            operation = operation_call(node, function, project)
            if operation is not None:
                written = node.args[0] if node.args else None
                asks = operation.op in ("barrier",) or "async_op" in {one.arg for one in node.keywords}
                # Who sends by a broadcast has what the others are given, and needs no result.
                sends = operation.op.startswith(("broadcast", "scatter"))
                if asks or sends or written is None or _root(written) not in own:
                    return False
                exchanged += 1
            elif isinstance(node.func, ast.Attribute) and _changes(node.func, given):
                return False
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(not isinstance(one, (ast.Name, ast.Tuple)) and _root(one) not in own for one in targets):
                return False
            if isinstance(node, ast.AugAssign) and _root(node.target) in given:
                return False
        else:
            return False
    functional = any(project.name(one.func, function).startswith(_HOMES) for one, _ in _inside(function, project))
    return exchanged > 0 or functional


def _changes(func: ast.Attribute, given: set[str]) -> bool:
    """Whether a method changes what the function was given, or is of something that others see, too."""
    in_place = func.attr.endswith("_") or func.attr in ("append", "extend", "update", "add", "pop", "log", "write")
    return in_place and (_root(func.value) in given or _root(func.value) == "")


def _is_copy(value: ast.expr) -> bool:
    """Whether a value is made anew: what is done to it nobody else sees."""
    if isinstance(value, (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp, ast.Constant, ast.BinOp)):
        return True
    if isinstance(value, ast.Call):
        names = {last_name(one.func) for one in walk(value) if isinstance(one, ast.Call)}
        return bool(names & (_COPIES - {"detach"} | _CONSTANT | {"get_world_size", "get_rank"}))
    return False


def _root(value: ast.expr) -> str:
    while isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred)):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _sends_something(call: ast.Call, function: Function) -> bool:
    """Whether an exchange is of something that the program computed, and not a way to meet."""
    if not call.args:
        return False
    value = call.args[0]
    if isinstance(value, ast.Name):
        made = function.assigned.get(value.id, [])
        if made and not any(_is_computed(one) for one in made):
            return False
    return _is_computed(value)


def _is_computed(value: ast.expr) -> bool:
    calls = [one for one in walk(value) if isinstance(one, ast.Call)]
    called = {id(inner) for one in calls for inner in walk(one.func)} if not _of_object(value) else set()
    named = any(isinstance(one, ast.Name) and id(one) not in called for one in walk(value))
    return named and not {last_name(one.func) for one in calls} & _CONSTANT


def _of_object(value: ast.expr) -> bool:
    """Whether a value is what a method gives without being told anything: `text.sum()`."""
    return isinstance(value, ast.Call) and not value.args
