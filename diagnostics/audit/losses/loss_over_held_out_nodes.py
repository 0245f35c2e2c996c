"""The loss of a graph's training is taken over all nodes, though a mask says which are trained on.

What it does: flags a loss of the labels of a whole graph (`graph.y`, unindexed) in what trains, where the program has
a `train_mask` and a mask for validation or test of the same object, and reads them where it measures alone.

Why it matters: the labels of validation and test are learned. Their accuracy is that of the training's nodes, it
chooses the best checkpoint, and falls to what the model is worth only on another graph.

Bad:

    out = model(graph)
    loss = F.cross_entropy(out, graph.y)

Good:

    loss = F.cross_entropy(out[graph.train_mask], graph.y[graph.train_mask])

What it cannot see: masks by other names, and lists of node numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A382"
NAME = "loss-over-held-out-nodes"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("train_mask",)
CHECKLIST = "the loss of a graph is taken over the nodes that are trained on"
_LOSSES = frozenset(["cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
                     "mse_loss", "criterion", "loss_fn", "loss_fcn", "loss_func", "loss_function", "crit"])  # fmt: skip
_LABELS = frozenset(["y", "label", "labels"])
_TRAIN = "train_mask"
_HELD_OUT = frozenset(["val_mask", "test_mask", "valid_mask"])
_MEASURES = re.compile(r"(?:^|_)(?:test|eval|evaluate|evaluation|val|validate|acc|accuracy|measure|score|infer)(?:_|$)")
# What deals out nodes in batches, or the loss of which is weighed elsewhere.
_DEALS = frozenset(["NeighborLoader", "NeighborSampler", "ClusterLoader", "GraphSAINTSampler", "RandomNodeLoader",
                    "ShaDowKHopSampler", "HGTLoader", "LinkNeighborLoader", "batch_size", "ignore_index", "node_norm",
                    "DataLoader", "NodeDataLoader", "reduction", "pseudo_labels"])  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses over all nodes of a graph of which some are held out."""
    closures = project.fact(ImportClosures)
    words = closures.words(file.shown)
    if file.is_test or _HELD_OUT.isdisjoint(words) or "backward" not in words or not _DEALS.isdisjoint(words):
        return
    inside = closures.around(file.shown)
    around = [one for one in project.functions if one.file in inside]
    reads = [(node, one) for one in around for node in _reads(one)]
    if not reads or not all(_is_measured(node, one) for node, one in reads):
        return
    for function in project.functions_in(file):
        calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
        if not any(last_name(one.func) == "backward" for one in calls):
            continue
        for call in calls:
            labels = next((one for one in call.args if isinstance(one, ast.Attribute) and one.attr in _LABELS), None)
            if last_name(call.func) not in _LOSSES or labels is None or len(call.args) < 2:
                continue
            graph = ast.unparse(labels.value)
            if any(isinstance(one, ast.Subscript) for one in call.args):
                continue
            node, where = reads[0]
            yield violation(
                file,
                call,
                f"the loss is over all of '{graph}.{labels.attr}', also over what is held out: the program has a "
                "train_mask and trains on the labels of validation and test",
                f"the loss of {ast.unparse(call.args[0])}[{graph}.train_mask] and "
                f"{graph}.{labels.attr}[{graph}.train_mask]",
                steps=(step(project.file_with(where), node, "the masks are read here, and only to measure"),),
                confidence=Confidence.LIKELY,
            )


def _reads(function: Function) -> Iterator[ast.AST]:
    """Yields where a function reads the mask of the training: as an attribute, a key or a name."""
    for node in function.nodes_of((ast.Attribute, ast.Subscript, ast.Name)):
        if not isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        key = node.slice if isinstance(node, ast.Subscript) else None
        called = key.value if isinstance(key, ast.Constant) else last_name(node)  # type: ignore[arg-type]
        if called == _TRAIN:
            yield node


def _is_measured(node: ast.AST, function: Function) -> bool:
    """Whether a function that reads the mask measures: it trains nothing, and says so by its name or in eval mode."""
    calls = {last_name(one.func) for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)}
    if "backward" in calls or isinstance(function.syntax, ast.Module):
        return False
    decorators = [ast.unparse(one) for one in getattr(function.syntax, "decorator_list", [])]
    quiet = "eval" in calls or any("no_grad" in one or "inference_mode" in one for one in decorators)
    return quiet or bool(_MEASURES.search(function.name.rpartition(".")[2].lower()))
