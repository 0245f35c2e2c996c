"""Losses that are taken over the neighbours of a sampled batch, too, which stand behind its seeds. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import MOST_SEEN, Const, Items, Made, Value, made_of

_LOADERS = frozenset(["NeighborLoader", "HGTLoader"])
_LOSSES = frozenset(
    ["cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
     "binary_cross_entropy_with_logits"]
)  # fmt: skip
_CUTS = frozenset(["narrow", "index_select", "masked_select", "split", "chunk", "where", "take", "gather", "unbind",
                   "batch_size", "input_id", "n_id", "masked_fill", "masked_fill_", "get_root_nodes"])  # fmt: skip


def losses_of_neighbours(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (loss, loader) where the labels of all nodes of a sampled batch are learned."""
    for one in execution.events:
        target = _target(one)
        if target is None or one.without_gradients:
            continue
        loader = _loader_of_labels(target)
        given = loader.argument(2, "input_nodes") if loader is not None else None
        if loader is None or given is None or (isinstance(given, Const) and given.value is None):
            continue
        if "transform" not in loader.keywords and not any(map(_is_cut, _made_from(target))):
            yield one, loader


def _target(event: Event) -> Value | None:
    """Returns the labels that a loss is given, None where it is none, or some of them are left out."""
    if event.keywords.keys() & {"reduction", "ignore_index", "weight"}:
        return None
    if event.name.startswith("torch.nn.functional.") and event.name.rpartition(".")[2] in _LOSSES:
        return event.argument(1, "target")
    loss = event.owner if event.name == "()" else None
    if isinstance(loss, Made) and loss.name.startswith("torch.nn.") and loss.name.endswith("Loss"):
        return None if loss.keywords.keys() & {"reduction", "ignore_index"} else event.argument(1, "target")
    return None


def _made_from(value: Value) -> Iterator[Made]:
    """Yields what a value was made of, down to what a loop over a loader gives."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made):
            yield one
        if not (isinstance(one, Made) and one.name == "item"):
            waiting += [each for each in made_of(one) if each is not None]


def _loader_of_labels(target: Value) -> Made | None:
    """Returns the loader of whose batches labels are: `batch.y`, `batch["paper"].y`."""
    if not any(one.name == ".y" for one in _made_from(target)):
        return None
    for one in _made_from(target):
        over = one.owner if one.name == "item" else None
        while isinstance(over, Made) and over.name in ("enumerate", "tqdm.tqdm", "tqdm.auto.tqdm") and over.args:
            over = over.args[0]
        if isinstance(over, Made) and over.name.startswith("torch_geometric."):
            return over if over.name.rpartition(".")[2] in _LOADERS else None
    return None


def _is_cut(value: Made) -> bool:
    """Whether a step on the way to the labels may have left rows out."""
    last = value.name.rpartition(".")[2]
    if last in _CUTS or last.endswith("mask"):
        return True
    if value.name != "[]":
        return False
    index = value.args[0] if value.args else None
    if isinstance(index, Items) and index.items:  # `batch.y[:, 0]`: all rows
        index = index.items[0]
    whole = isinstance(index, Made) and index.name == "slice" and all(
        isinstance(one, Const) and one.value is None for one in index.args
    )  # fmt: skip
    return not whole and not (isinstance(index, Const) and isinstance(index.value, str))
