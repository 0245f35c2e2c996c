"""Where a parameter of a model is made, and where its forward leaves it out: from recorded constructions and source.

torch names parameters by their index: own parameters of a module come first, then its children in order.

The lines of a forward that leave out a submodule: a branch around it, a return before it, a skipped turn.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diagnostics.core.frames import location, user_frames
from diagnostics.dynamic.job.construction_path import construction_path, open_constructions
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import (
    Function,
    SourceSite,
    called_name,
    class_of,
    method,
    parents,
    source_files_of,
)
from diagnostics.record.agent_data import Construction, ModuleName
from diagnostics.static.program.ast_walk import walk

_LOOPS = (ast.For, ast.While)

MAX_CONSTRUCTIONS = 500
# How many parameters a module of torch has by itself, with its bias; the second number is what `bias=False` takes away.
_OWN = {
    **dict.fromkeys(("Linear", "NonDynamicallyQuantizableLinear", "Bilinear", "Conv1d", "Conv2d", "Conv3d",
                     "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LayerNorm"), (2, 1)),
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm"), (2, 0)),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PReLU", "RMSNorm"), (1, 0)),
    **dict.fromkeys(("MultiheadAttention",), (2, 1)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (4, 2)),
    **dict.fromkeys(("LSTMCell", "GRUCell", "RNNCell"), (4, 2)),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedParameter:
    """A module (or parameter) without a gradient. `left_out` are the lines of a forward that skip it, best first."""

    path: str
    class_name: str
    made: str  # "" where it is not known
    left_out: tuple[str, ...]
    entered: bool  # its forward ran, so that its result took no part in the loss


@dataclass
class _Node:
    path: str
    class_name: str
    made: str
    parent_class: str
    own: list[tuple[str, str]]  # (name, where made) of its own parameters
    children: list[_Node] = field(default_factory=list)


def unused_parts(
    job: Job, process: JobProcess, indices: Sequence[int], names: Sequence[str]
) -> tuple[tuple[UnusedParameter, ...], bool]:
    """Returns the modules that got no gradient and whether torch's own indices or names say so.

    A name that is not found in the model as recorded is told without the line that makes it. Without names, and where
    no index fits, it is the modules that were made and never entered.
    """
    files = source_files_of(job, process)
    entered = {entry.module.path: entry.module for entry in process.agent.entered} if process.agent is not None else {}
    root = _tree(job, process)
    flat = list(_parameters(root)) if root is not None else []
    known = {f"{node.path}.{own}".strip("."): (node, own) for node, own in flat}
    nodes = [known[name] for name in names if name in known] if names else _by_index(flat, indices)
    sure = bool(names or nodes)
    if root is not None and not sure:
        nodes = [(node, "") for node in _all(root) if node.own and node.path not in entered and node is not root]
    found = _placed(job, files, root, nodes, entered, _unused_whole(root, nodes, names)) if root is not None else {}
    others = [name for name in names if name not in known and not any(name.startswith(f"{path}.") for path in found)]
    unplaced = [_by_name_only(job, files, entered, name) for name in others]
    return tuple({**found, **{part.path: part for part in unplaced}}.values()), sure


def _placed(
    job: Job,
    files: tuple[str, ...],
    root: _Node,
    nodes: Sequence[tuple[_Node, str]],
    entered: Mapping[str, ModuleName],
    unused: frozenset[int],
) -> dict[str, UnusedParameter]:
    found: dict[str, UnusedParameter] = {}
    for node, own in nodes:
        whole = _left_out_whole(root, node, unused)
        path = f"{node.path}.{own}".strip(".") if own and own not in ("weight", "bias") else node.path
        made = next((at for name, at in node.own if name == own and at), node.made)
        kind, attribute = (whole.parent_class, _attribute(whole.path))
        if path != node.path and whole is node:
            kind, attribute = node.class_name, own
        elif whole is not node:
            path, made = whole.path, whole.made
        found.setdefault(
            path,
            UnusedParameter(
                path=path,
                class_name=whole.class_name,
                made=made,
                left_out=skipping_lines(job, files, kind, attribute),
                entered=whole.path in entered,
            ),
        )
    return found


def _by_name_only(job: Job, files: tuple[str, ...], entered: Mapping[str, ModuleName], name: str) -> UnusedParameter:
    """What is known of a parameter by its name: what the modules that ran are called."""
    path, _, own = name.rpartition(".")
    if own not in ("weight", "bias") or not path:
        path, own = name, ""
    above, _, attribute = path.rpartition(".")
    skipped = path not in entered and above in entered and not attribute.isdigit()
    return UnusedParameter(
        path=path,
        class_name=entered[path].class_name if path in entered else "",
        made="",
        left_out=skipping_lines(job, files, entered[above].class_name, attribute) if skipped else (),
        entered=path in entered,
    )


def _unused_whole(root: _Node, unused: Sequence[tuple[_Node, str]], names: Sequence[str]) -> frozenset[int]:
    """Returns the ids of the nodes of which no parameter of their own has a gradient.

    A module of a library may call its own otherwise than we do (`in_proj_weight`): they are counted.
    """
    own = Counter(id(node) for node, name in unused if name)
    said = Counter(name.rpartition(".")[0] for name in names)
    return frozenset(id(one) for one in _all(root) if max(own[id(one)], said[one.path]) >= len(one.own))


def _left_out_whole(root: _Node, node: _Node, unused: frozenset[int]) -> _Node:
    """Returns the outermost module around `node` that has no other parameters than unused ones: what was skipped."""
    for outer in _all(root):
        inside = _all(outer)
        if outer is not root and node in inside and all(id(one) in unused for one in inside):
            return outer
    return node


def _attribute(path: str) -> str:
    parts = [part for part in path.split(".") if not part.isdigit() and part != "?"]
    return parts[-1] if parts else ""


def _tree(job: Job, process: JobProcess) -> _Node | None:
    """The model that was called, as its constructors made it."""
    agent = process.agent
    if agent is None or not agent.entered:
        return None
    root_class = agent.entered[-1].module.root_class or agent.entered[-1].module.class_name
    made = agent.constructions[:MAX_CONSTRUCTIONS]
    files = source_files_of(job, process)
    nodes: dict[int, _Node] = {}
    for position, one in enumerate(made):
        chain = open_constructions(made[: position + 1])
        top = next((at for at, outer in enumerate(chain) if outer.class_name == root_class), None)
        if top is None:
            continue
        path, _ = construction_path(chain[top:], made, job.sources)
        parent = chain[-2] if len(chain) - top > 1 else None
        node = _Node(
            path=path,
            class_name=one.class_name,
            made=_made_at(job, one),
            parent_class=parent.class_name if parent is not None else "",
            own=_own_parameters(job, files, one),
        )
        nodes[one.sequence] = node
        if parent is not None and parent.sequence in nodes:
            nodes[parent.sequence].children.append(node)
    return next((node for node in nodes.values() if node.path == "" and node.class_name == root_class), None)


def _made_at(job: Job, one: Construction) -> str:
    frames = user_frames(one.path[one.own :])
    return location(frames[0], job.facts.cwd) if frames else ""


def _own_parameters(job: Job, files: tuple[str, ...], one: Construction) -> list[tuple[str, str]]:
    if one.own == 0:
        count, without = _OWN.get(one.class_name, (0, 0))
        frames = user_frames(one.path)
        statement = job.sources.file(frames[0].file).statement_at(frames[0].line) if frames else None
        for call in walk(statement) if statement is not None else ():
            if isinstance(call, ast.Call) and called_name(call) == one.class_name and _without_bias(call):
                count -= without
        return [(name, "") for name in ("weight", "bias", "weight2", "bias2")[:count]]
    found = class_of(job, files, one.class_name)
    init = method(found[1], "__init__") if found is not None else None
    own: dict[str, str] = {}
    for node in walk(init) if init is not None else ():
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call) and called_name(value) == "Parameter":
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target  # type: ignore[attr-defined]
            if isinstance(target, ast.Attribute) and found is not None:
                own[target.attr] = SourceSite(file=found[0], node=node).location(job)
        if isinstance(node, ast.Call) and called_name(node) == "register_parameter" and found is not None:
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant):
                own[str(name.value)] = SourceSite(file=found[0], node=node).location(job)
    return list(own.items())


def _without_bias(call: ast.Call) -> bool:
    said = {word.arg: word.value for word in call.keywords}
    return any(isinstance(value, ast.Constant) and value.value is False and name in ("bias", "affine")
               for name, value in said.items())  # fmt: skip


def _parameters(node: _Node) -> list[tuple[_Node, str]]:
    found = [(node, name) for name, _ in node.own]
    for child in node.children:
        found.extend(_parameters(child))
    return found


def _all(node: _Node) -> list[_Node]:
    return [node, *(inner for child in node.children for inner in _all(child))]


def _by_index(flat: list[tuple[_Node, str]], indices: Sequence[int]) -> list[tuple[_Node, str]]:
    if not indices or max(indices) >= len(flat):
        return []
    return [flat[index] for index in indices]


def skipping_lines(job: Job, files: tuple[str, ...], class_name: str, attribute: str) -> tuple[str, ...]:
    """Returns the branches of class `class_name` that decide whether `self.attribute` is used, innermost first.

    Where it is used without a branch, the lines of its use; () where no method uses it.
    """
    found = class_of(job, files, class_name)
    if found is None or not attribute:
        return ()
    file, kind = found
    branches: list[ast.AST] = []
    uses: list[ast.AST] = []
    for function in (node for node in kind.body if isinstance(node, Function) and node.name != "__init__"):
        above = parents(function)
        for use in _uses(function, attribute):
            uses.append(use)
            branches.extend(_around(use, above))
            branches.extend(_before(use, function, above))
    chosen = branches or uses
    return tuple(dict.fromkeys(SourceSite(file=file, node=node).location(job) for node in chosen))


def _uses(function: Function, attribute: str) -> list[ast.AST]:
    return [
        node
        for node in walk(function)
        if isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and not _is_asked_only(node, function)
    ]


def _is_asked_only(node: ast.Attribute, function: Function) -> bool:
    """`if self.gate is not None` asks, it does not use."""
    return any(isinstance(outer, ast.Compare) and node in walk(outer) for outer in walk(function))


def _around(use: ast.AST, above: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    found: list[ast.AST] = []
    inner, outer = use, above.get(use)
    while outer is not None:
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
            found.append(outer)
        if isinstance(outer, _LOOPS):
            found.extend(_skipped_turns(outer))
        if isinstance(outer, ast.comprehension):
            found.extend(outer.ifs)
        inner, outer = outer, above.get(outer)
    return found


def _skipped_turns(loop: ast.For | ast.While) -> list[ast.AST]:
    """Branches in a loop that go on to the next turn or leave, or in which the whole turn's work stands."""
    branches = [node for node in walk(loop) if isinstance(node, ast.If)]
    jumps = [node for node in branches if any(isinstance(inner, (ast.Continue, ast.Break)) for inner in walk(node))]
    if jumps or not isinstance(loop, ast.For) or not isinstance(loop.target, (ast.Name, ast.Tuple)):
        return list(jumps)
    names = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    calls = [
        node
        for node in branches
        for call in walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
    ]
    return list(calls)


def _before(use: ast.AST, function: Function, above: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    """Branches that return before the use is reached."""
    statement: ast.AST = use
    while above.get(statement) is not None and above[statement] is not function:
        statement = above[statement]
    return [
        node
        for node in function.body
        if isinstance(node, ast.If)
        and node.lineno < getattr(statement, "lineno", 0)
        and any(isinstance(inner, ast.Return) for inner in walk(node))
    ]
