from __future__ import annotations

import pytest

from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.source_file import SourceStore
from diagnostics.static.torch_code.loss_conditions import loss_conditions

IN_THE_LOOP = """\
def main(model, loader):
    for step, batch in enumerate(loader):
        out, aux = model(batch["x"])
        loss = out.mean()
        if batch["mask"].any():
            loss = loss + aux.mean()
        loss.backward()
"""
IN_A_CLASS = """\
class Loss:
    def __call__(self, out, batch):
        parts = {"a": out.mean()}
        visible = batch["visible"]
        if visible.sum() > 0:
            parts["b"] = out[visible].mean()
        return sum(parts.values()), parts
def main(model, batch):
    criterion = Loss()
    loss, parts = criterion(model(batch), batch)
    scaler.scale(loss).backward()
"""
IN_A_METHOD = """\
class Lit(LightningModule):
    def training_step(self, batch, index):
        terms = [self.model(batch).mean()]
        if len(batch["boxes"]):
            terms.append(self.boxes(batch))
        return sum(terms)
"""
EARLY_RETURN = """\
def loss_of(out, target):
    keep = target >= 0
    if not keep.any():
        return out.sum() * 0
    return (out[keep] - target[keep]).mean()
def main(model, x, y):
    accelerator.backward(loss_of(model(x), y))
"""
FOR_EVERY_STEP = """\
class Loss:
    def __call__(self, out, batch, mask=None):
        loss = out.mean()
        if self.use_aux:
            loss = loss + batch.mean()
        if mask is not None:
            loss = loss * mask
        return loss
def main(model, loader):
    criterion = Loss()
    for step, batch in enumerate(loader):
        loss = criterion(model(batch), batch)
        if step % 10 == 0:
            loss = loss * 1
        if get_rank() == 0:
            loss = loss + 0
        if loader.count() > 3:
            print(loss)
        loss.backward()
"""


@pytest.mark.parametrize(
    ("source", "lines"),
    [(IN_THE_LOOP, (5,)), (IN_A_CLASS, (5,)), (IN_A_METHOD, (4,)), (EARLY_RETURN, (3,)), (FOR_EVERY_STEP, ())],
)
def test_conditions_on_the_data_that_a_loss_depends_on_are_found_and_settings_are_none(
    source: str, lines: tuple[int, ...]
) -> None:
    program = CallGraph(SourceStore("/job", {"/job/a.py": source}, frozenset()), ("/job/a.py",))
    assert tuple(frame.line for frame in loss_conditions(program)) == lines
