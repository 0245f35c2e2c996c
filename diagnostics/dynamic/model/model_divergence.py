"""Where two ranks built different models: from what their constructors were seen to make, and from the source. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from typing import TypeGuard

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import SourceSite, called_name, source_files_of
from diagnostics.dynamic.model.rank_taint import FileTaint, depends, enclosing_branch, rank_taint
from diagnostics.record.agent_data import Construction
from diagnostics.static.program.ast_walk import walk

CASTS = {"double", "float", "half", "bfloat16"}
WRAPS = {"DDP", "DistributedDataParallel", "FSDP", "FullyShardedDataParallel", "fully_shard"}
READING = re.compile(r"print|save|log|info|debug|warn|write|watch|summar")  # changes no model that it is given
_RANK, _WORLD = re.compile(r"rank", re.IGNORECASE), re.compile(r"world|num_replicas|num_shards", re.IGNORECASE)
FAR = 4  # assignments between a value and the model: beyond that nearly everything leads to it
NEAR = 10  # more than any score: what leads to a wrapped model comes before what leads to any other object
TYPE = re.compile(r"\btorch\.(?:b?float\d*|double|half)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDivergence:
    """`locations` best first; `odd` is the rank that made more than the other, None where that is not known."""

    locations: tuple[str, ...]
    made: str  # "3 Linear at model.py:12 on rank 0, 2 on rank 1", "" where both made the same
    odd: int | None


def model_difference(job: Job, one: JobProcess, other: JobProcess) -> ModelDivergence:
    """Returns the lines by which the models of two ranks differ."""
    first, second = _made(one), _made(other)
    differing = [key for key in (first | second) if first[key] != second[key]]
    if differing:
        key = differing[0]
        kind, frame = key[0], key[1]
        more = one if first[key] > second[key] else other
        shown = (
            f"{first[key]} {kind} at {job.line(frame)} on rank {one.rank}, {second[key]} on rank {other.rank}"
            if frame is not None
            else ""
        )
        alone = _entered_alone(more, other if more is one else one)
        lines = [line for frame in (*alone, *key[1:]) if frame is not None for line in _branch_and_line(job, frame)]
        return ModelDivergence(locations=(*lines, *_by_source(job, one)), made=shown, odd=more.rank)
    return ModelDivergence(locations=_by_source(job, one), made="", odd=None)


def casts_by_rank(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the lines that convert something to another type in a branch that depends on the rank."""
    found = []
    for file in source_files_of(job, process):
        tree = job.sources.file(file).tree
        for node in walk(tree) if tree is not None else ():
            if tree is not None and _casts(node) and enclosing_branch(tree, node.lineno, rank_taint(tree)) is not None:
                found.append(SourceSite(file=file, node=node).location(job))
    return tuple(dict.fromkeys(found))


def _casts(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node is `net.double()` or `net.to(torch.bfloat16)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if called_name(node) == "to":
        return any(TYPE.search(ast.unparse(value)) for value in (*node.args, *(word.value for word in node.keywords)))
    return called_name(node) in CASTS and not node.args


def _made(process: JobProcess) -> Counter[tuple[str, Frame | None, Frame | None]]:
    """Counts constructions by class and the two innermost lines that led to them."""
    made: Counter[tuple[str, Frame | None, Frame | None]] = Counter()
    for one in process.agent.constructions if process.agent is not None else ():
        if one.class_name not in ("DistributedDataParallel", "FullyShardedDataParallel"):
            frames = user_frames(_callers(one))
            made[one.class_name, frames[0] if frames else None, frames[1] if len(frames) > 1 else None] += 1
    return made


def _entered_alone(more: JobProcess, less: JobProcess) -> tuple[Frame, ...]:
    """Returns the outermost call by which a rank made modules and the other rank made none; () where both made some."""
    ways = {way[:end] for way in _ways(less) for end in range(1, len(way) + 1)}
    for way in _ways(more):
        for end in range(1, len(way) + 1):
            if way[:end] not in ways:
                return way[end - 1 : end]
    return ()


def _ways(process: JobProcess) -> list[tuple[Frame, ...]]:
    """Returns the call paths along which a rank made modules, outermost first."""
    made = process.agent.constructions if process.agent is not None else ()
    return [tuple(reversed(user_frames(_callers(one)))) for one in made]


def _callers(one: Construction) -> tuple[Frame, ...]:
    return one.path[one.own :] or one.path


def _branch_and_line(job: Job, frame: Frame) -> list[str]:
    tree = job.sources.file(frame.file).tree
    branch = enclosing_branch(tree, frame.line, rank_taint(tree)) if tree is not None else None
    found = [SourceSite(file=frame.file, node=branch).location(job)] if branch is not None else []
    return [*found, job.line(frame)]


def _by_source(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Lines that depend on the rank, or else on chance, and reach a constructor, in order of that chain."""
    for chance in (False, True):
        scored: list[tuple[int, int, int, int, str]] = []
        for file in source_files_of(job, process):
            tree = job.sources.file(file).tree
            if tree is None:
                continue
            taint = rank_taint(tree, chance=chance)
            wanted = _constructor_inputs(tree, taint, chance)
            distances = _ways_to_wrap(tree)
            wrapped_at = max((call.lineno for call in _wraps(tree)), default=0)
            for statement in _simple(tree):
                changed = _changed(statement) if statement.lineno < wrapped_at else frozenset()
                near = min((distances[name] for name in changed if name in distances), default=FAR)
                leads = near < FAR and _score(statement, taint, set(distances), chance, changed)
                score = leads + NEAR if leads else _score(statement, taint, wanted, chance)
                if score:
                    made = [*_made_inside(statement, tree, taint, chance)[:3], statement]
                    for at, one in enumerate(made):
                        place = SourceSite(file=file, node=one).location(job)
                        scored.append((0 if _divides(one) else -score, near, statement.lineno, at, place))
        if scored:
            return tuple(dict.fromkeys(place for *_, place in sorted(scored)))[:4]
    return ()


def _made_inside(statement: ast.stmt, tree: ast.AST, taint: FileTaint, chance: bool) -> list[ast.stmt]:
    """Returns what depends on the rank inside of the function of this file that a statement only calls."""
    value = getattr(statement, "value", None)
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    inside = [node for node in walk(tree) if isinstance(node, ast.FunctionDef) and node.name == called]
    makers = [one for function in inside for one in walk(function) if isinstance(one, ast.Assign)]
    return [one for one in makers if depends(one.value, taint.names, chance=chance) and not _only_the_rank(one.value)]


def _divides(statement: ast.stmt) -> bool:
    """Whether a statement takes the rank's share of something: right by itself, what is made of the share is wrong."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and _RANK.search(ast.unparse(value.slice)) is not None
    given = (
        ast.unparse(ast.Tuple([*value.args, *(word.value for word in value.keywords)]))
        if isinstance(value, ast.Call)
        else ""
    )
    return _RANK.search(given) is not None and _WORLD.search(given) is not None


def _wraps(tree: ast.AST) -> list[ast.Call]:
    calls = [node for node in walk(tree) if isinstance(node, ast.Call) and node.args]
    return [call for call in calls if called_name(call) in WRAPS]


def _ways_to_wrap(tree: ast.AST) -> dict[str, int]:
    """Returns the names that lead to a model that is wrapped here, each by how many assignments it is away."""
    away = {node.id: 0 for call in _wraps(tree) for node in walk(call.args[0]) if isinstance(node, ast.Name)}
    for distance in range(1, FAR):
        for statement in _simple(tree):
            value = getattr(statement, "value", None)
            if value is not None and any(away.get(name, FAR) == distance - 1 for name in _targets(statement)):
                for node in walk(value):
                    if isinstance(node, ast.Name):
                        away.setdefault(node.id, distance)
    return away


def _changed(statement: ast.stmt) -> frozenset[str]:
    """Returns the names a statement binds, and in a branch those it hands to a call: `freeze(net)`, `net.add()`."""
    if not isinstance(statement, ast.If):
        return frozenset(_targets(statement))
    inner = [node for part in (*statement.body, *statement.orelse) for node in walk(part)]
    bound = {name for node in inner if isinstance(node, ast.stmt) for name in _targets(node)}
    bare = [node.value for node in inner if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    handed = [part for call in bare if not READING.match(called_name(call)) for part in (*call.args, call.func)]
    return frozenset(bound | {node.id for part in handed for node in walk(part) if isinstance(node, ast.Name)})


def _simple(tree: ast.AST) -> list[ast.stmt]:
    return [node for node in walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef)]


def _score(
    statement: ast.stmt, taint: FileTaint, wanted: set[str], chance: bool, handed: frozenset[str] = frozenset()
) -> int:
    """3: reads the rank itself and feeds a constructor; 2: passes that on; 0: neither."""
    if isinstance(statement, ast.If):
        inside = {name for inner in statement.body for name in _targets(inner)} | handed
        return 3 if depends(statement.test, taint.names, chance=chance) and inside & wanted else 0
    if isinstance(statement, ast.Return) and depends(statement.value or statement, taint.names, chance=chance):
        return 2
    if not _targets(statement) & wanted:
        return 0
    value = getattr(statement, "value", None)
    if value is None or _only_the_rank(value):
        return 0
    if depends(value, frozenset(), chance=chance) or _reads_rank_name(value, taint):
        return 3
    return 2 if depends(value, taint.names, chance=chance) else 0


def _only_the_rank(value: ast.expr) -> bool:
    """`rank = dist.get_rank()`: right by itself, what is made of it is wrong."""
    text = ast.unparse(value)
    return "get_rank()" in text or (("environ" in text or "getenv" in text) and "RANK" in text)


def _reads_rank_name(value: ast.expr, taint: FileTaint) -> bool:
    names = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    return bool({name for name in names if len(name) <= 2 and name in taint.names})


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        nodes: list[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        nodes = [statement.target]
    else:
        return set()
    return {getattr(node, "id", getattr(node, "attr", "")) for target in nodes for node in walk(target)} - {""}


def _constructor_inputs(tree: ast.AST, taint: FileTaint, chance: bool) -> set[str]:
    """Names that depend on the rank and go, by way of others, into something that looks like a module's constructor."""
    wanted: set[str] = set()
    for call in (node for node in walk(tree) if isinstance(node, ast.Call)):
        if called_name(call)[:1].isupper() or called_name(call).startswith(("build", "make", "create", "get_model")):
            for argument in (*call.args, *(word.value for word in call.keywords)):
                if depends(argument, taint.names, chance=chance):
                    wanted |= {node.id for node in walk(argument) if isinstance(node, ast.Name)}
                    wanted |= {node.attr for node in walk(argument) if isinstance(node, ast.Attribute)}
    for _ in range(4):
        for statement in _simple(tree):
            if _targets(statement) & wanted and getattr(statement, "value", None) is not None:
                wanted |= {node.id for node in walk(statement.value) if isinstance(node, ast.Name)}  # type: ignore[attr-defined]
    return wanted & (taint.names | wanted)
