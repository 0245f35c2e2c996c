"""The edges of an undirected graph are split one by one, so that the reverse of a test edge is trained on.

What it does: flags a list of edges that holds each of them in both directions (`adj | adj.t()`, an edge list joined
with itself turned round, to_undirected()) and of which pieces of a random permutation, of a shuffled copy or of
train_test_split() make the parts for training and for validation or test. A matrix that is symmetric gives such edges.

Why it matters: (u, v) and (v, u) are one edge, and a model mostly gives them one score. With a fifth held out, the
reverse of four in five test edges is a training edge: AUC and hits measure what was learned by heart.

Bad:

    edges = (adj | adj.t()).nonzero().t()
    order = torch.randperm(edges.shape[1])
    test, train = edges[:, order[:n]], edges[:, order[n:]]

Good:

    edges = edges[:, edges[0] < edges[1]]          # each edge once; both directions of the training's after the split

What it cannot see: files that hold both directions, and splits by a random mask.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.edge_splits import splits
from diagnostics.static.samples.edges import both_directions

CODE = "A527"
NAME = "edges-split-one-by-one"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("randperm", "permutation", "shuffle", "train_test_split")
CHECKLIST = "both directions of an edge are in one part of the split"
_HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|dev|held)(?:_|$)", re.IGNORECASE)
_TRAINED = re.compile(r"train|(?:^|_)fit(?:_|$)|message", re.IGNORECASE)
# What may put both directions of an edge into one part again.
_MENDS = re.compile(r"revers|mirror|canonical|directed|duplicate|isin|difference|twin", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the random orders by which such edges are split."""
    for function in () if file.is_test else project.functions_in(file):
        for split in splits(function, project):
            names = " ".join(name for name, _ in split.parts)
            words = {
                last_name(one) for one in function.nodes_of((ast.Name, ast.Attribute)) if isinstance(one, ast.expr)
            }
            held = any(_HELD_OUT.search(name) for name, _ in split.parts)
            if not held or not _TRAINED.search(names) or any(_MENDS.search(one) for one in words):
                continue
            mirrored = both_directions(split.value, function, project)
            if mirrored is None:
                continue
            made, where = mirrored
            base = ast.unparse(split.value)
            yield violation(
                file,
                split.place,
                f"'{base}' holds each edge in both directions and is split edge by edge: the reverse of most edges "
                "that are held out is trained on",
                f"split each edge once, {base}[:, {base}[0] < {base}[1]], and add the reverse of the training's "
                "edges behind the split",
                steps=(
                    step(project.file_with(where), made, "both directions of each edge"),
                    *(step(file, node, f"a part of them, {name}") for name, node in split.parts if name),
                ),
                confidence=Confidence.LIKELY,
            )
            break
