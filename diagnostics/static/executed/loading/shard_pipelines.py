"""Pipelines of webdataset over shards that nothing divides among the ranks. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.training import is_distributed, runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Instance, Items, Made, Name, OneOf, Procedure, Value, sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.own_nodes import statements_of

_PIPELINE = frozenset(["webdataset.DataPipeline", "webdataset.pipeline.DataPipeline"])
_WEB_DATASET = frozenset(["webdataset.WebDataset", "webdataset.compat.WebDataset"])
_LISTS = frozenset(["webdataset.SimpleShardList", "webdataset.shardlists.SimpleShardList"])
_HOME = "webdataset."
_SPLITS = "split_by_node"
_READS = ("tarfile_to_samples", "tarfile_samples", "cached_tarfile_to_samples", "tar_file_expander")
_BY_CHANCE = (".shuffle",)
_BOUNDED = (".with_epoch", ".with_length", ".slice", "itertools.islice")
_LEAVES = ("break", "return")
# What gives the ranks one set of samples on purpose, or deals batches out behind the pipeline.
_SHARED = re.compile(r"parallelize_module|init_device_mesh|new_group|prepare|split_dataset_by_node|model_parallel")
_RANKS = re.compile(r"rank|world|node|replica|procid|num_processes|process_index|islice", re.IGNORECASE)


def shards_of_all_ranks(execution: Execution) -> Iterator[tuple[Made, Made, Event]]:
    """Yields (list of shards, pipeline, backward pass) where each rank trains on the samples of all shards."""
    if not is_distributed(execution) or any(_SHARED.search(one.name) for one in execution.events):
        return
    told: set[int] = set()
    for one in execution.events:
        if one.name.rpartition(".")[2] != "backward" or runs_beside(one):
            continue
        for loop in one.loops:
            chain = list(sources(loop.over))
            for made in chain:
                if not isinstance(made, Made) or id(made.node) in told:
                    continue
                shards = _undivided(made, chain, _is_left(loop.node, execution))
                if shards is not None and shards.node is not None and shards.function is not None:
                    told.add(id(made.node))
                    yield shards, made, one


def _is_left(loop: ast.AST, execution: Execution) -> bool:
    """Whether a loop may end before its data does: how far a rank reads is then told by steps."""
    return any(one.name in _LEAVES and any(each.node is loop for each in one.loops) for one in execution.events)


def _undivided(made: Made, chain: Sequence[Value], is_left: bool) -> Made | None:
    """Returns what lists the shards of a pipeline of which each rank reads all."""
    if any((isinstance(one, (Name, Made)) and _SPLITS in one.name) or _speaks(one) for one in chain):
        return None
    if made.name in _PIPELINE:
        stages = _stages(made)
        first = stages[0] if stages else None
        if not isinstance(first, Made) or first.name not in _LISTS or any(map(_may_divide, stages[1:])):
            return None
        seed = first.argument(1, "seed")
        chance = isinstance(seed, Const) and seed.value is True
        listed, urls = first, first.argument(0, "urls")
        chance = chance or any(_is_chance(one) for one in _before_reading(stages))
    elif made.name in _WEB_DATASET:
        splitter, again = made.keywords.get("nodesplitter"), made.keywords.get("resampled")
        resampled = again is not None and not (isinstance(again, Const) and not again.value)
        if resampled or "**" in made.keywords or not _gives_all(splitter):
            return None
        listed, urls = made, made.argument(0, "urls")
        shuffled = made.keywords.get("shardshuffle")
        drawn = shuffled is not None and not (isinstance(shuffled, Const) and not shuffled.value)
        chance = drawn and not {"detshuffle", "seed"} & made.keywords.keys()
    else:
        return None
    if urls is None or any(speaks_of_ranks(one) or _speaks(one) for one in sources(urls)):
        return None
    bounded = any(isinstance(one, Made) and one.name in _BOUNDED for one in chain)
    return None if chance and (bounded or is_left) else listed


def _stages(pipeline: Made) -> Sequence[Value]:
    """Returns the stages of a pipeline, [] where not all of them are known."""
    found: list[Value] = []
    for one in pipeline.args:
        if isinstance(one, Items):
            if one.open:
                return []
            found += one.items
        else:
            found.append(one)
    return found if not pipeline.keywords else []


def _before_reading(stages: Sequence[Value]) -> Iterator[Value]:
    """Yields the stages that see shards, and no samples yet."""
    for one in stages:
        if isinstance(one, (Made, Name)) and one.name.endswith(_READS):
            return
        yield one


def _may_divide(stage: Value) -> bool:
    """Whether a stage may give a rank a share, as far as its text says."""
    if isinstance(stage, Procedure):
        return _speaks(stage)
    if isinstance(stage, Instance):
        return any(isinstance(one, (ast.Name, ast.Attribute)) and _RANKS.search(_name(one))
                   for one in walk(stage.kind.kind))  # fmt: skip
    if isinstance(stage, OneOf):
        return any(map(_may_divide, stage.options))
    if isinstance(stage, Const):
        return stage.value is not None
    if not isinstance(stage, (Made, Name)) or not stage.name.startswith(_HOME):
        return True
    return isinstance(stage, Made) and any(map(_speaks, stage.args))


def _speaks(value: Value) -> bool:
    """Whether a function of the project speaks of ranks."""
    return isinstance(value, Procedure) and any(
        _RANKS.search(_name(one)) for one in walk(value.function.syntax) if isinstance(one, (ast.Name, ast.Attribute))
    )


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_chance(stage: Value) -> bool:
    """Whether a stage puts shards into an order that is another one in each process."""
    return isinstance(stage, Made) and stage.name.endswith(_BY_CHANCE) and not {"rng", "seed"} & stage.keywords.keys()


def _gives_all(splitter: Value | None) -> bool:
    """Whether what divides the shards among the nodes is None, the one for workers, or gives back all that it gets."""
    if isinstance(splitter, Const):
        return splitter.value is None
    if isinstance(splitter, Name):
        return splitter.name.startswith(_HOME) and splitter.name.endswith("split_by_worker")
    if not isinstance(splitter, Procedure) or len(splitter.function.parameters) != 1:
        return False
    syntax, given = splitter.function.syntax, splitter.function.parameters[0]
    if isinstance(syntax, ast.Lambda):
        return isinstance(syntax.body, ast.Name) and syntax.body.id == given
    body = [one for one in statements_of(syntax) if not (isinstance(one, ast.Expr) and _is_text(one.value))]
    match body:
        case [ast.Return(value=ast.Name(id=name))]:
            return name == given
        case [ast.Expr(value=ast.YieldFrom(value=ast.Name(id=name)))]:
            return name == given
    return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)
