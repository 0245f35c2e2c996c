"""Which line of the project made a library, which runs its loop, part the ranks: no stack shows it."""

from __future__ import annotations

import pytest
from marked_source import marked

from diagnostics.dynamic.divergence.localisation import divergence_points, is_unique

TRAINER = """
from lightning import Trainer
from callbacks import Own
def main():
    trainer = Trainer(callbacks=[Own()])
    trainer.fit(model, loader)  # A1~ T1~
    trainer.save_checkpoint("last")  # H1~
main()  # A0 H0 T0
### callbacks.py
from lightning import Callback
"""
WITHIN = TRAINER.replace("# A1~ T1~", "# A1~ H1~ T1~").replace("# H1~\n", "\n")
FORMS = {
    "a flag of the library's is set by the rank's own loss": TRAINER
    + """
class Own(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if len(outputs) > self.least:
            print("long")
        if outputs["loss"].item() < 0.1:  # first
            trainer.should_stop = True  # also
""",
    "the flag is set to a value, not under a test": TRAINER
    + """
class Own(Callback):
    def on_epoch_end(self, trainer, module):
        stop = self.judge(trainer)
        trainer.should_stop = trainer.should_stop or stop  # first
""",
    "a call that communicates, on one rank only, that the library carries out later": WITHIN
    + """
class Own(LightningModule):
    def on_epoch_end(self):
        if self.global_rank == 0:  # first
            self.log("accuracy", self.right, sync_dist=True)  # also
        if self.global_rank == 0:
            print("done")
""",
    "a metric for each of what a rank has in its batch, not for each name of a fixed list": WITHIN
    + """
class Own(LightningModule):
    def on_validation_epoch_start(self):
        for name in ("loss", "accuracy"):
            self.log(name, self.kept[name], sync_dist=True)
    def validation_step(self, batch, index):
        for kind in batch.labels.unique().tolist():  # first
            self.log(f"accuracy/{kind}", self.right(kind), sync_dist=True)  # also
""",
    "a loader that has more batches on some ranks": TRAINER
    + """
class Own(LightningDataModule):
    def setup(self, stage):
        rows = range(self.trainer.global_rank, len(self.x), self.trainer.world_size)  # also
        rows = [row for row in rows if self.x[row] > 0]
        self.rows = rows
    def train_dataloader(self):
        return DataLoader(Subset(self.data, self.rows), batch_size=8)  # first
""",
}


@pytest.mark.parametrize("form", FORMS)
def test_what_the_library_was_told_is_named_first_but_never_certain(form: str) -> None:
    job = marked(FORMS[form])
    found = divergence_points(job.sources, job.parting)
    shown = [f"{one.frame.file.removeprefix('/job/')}:{one.frame.line}" for one in found]
    assert (tuple(shown[:1]), is_unique(found)) == (job.first, False), found
    assert set(job.also) <= set(shown)


def test_a_callback_returned_before_its_backward_and_the_library_went_on_alone() -> None:
    job = marked(
        """
def main():
    trainer.fit(model, loader)  # A1~ H1 T1~
main()  # A0 H0 T0
class Net(LightningModule):
    def training_step(self, batch, index):
        signal, usable = batch
        if len(signal) == 0:  # first
            return  # also
        self.manual_backward(self.loss(signal))  # H2!
"""
    )
    shown = [f"train.py:{one.frame.line}" for one in divergence_points(job.sources, job.parting)]
    assert tuple(shown[:1]) == job.first
    assert set(job.also) <= set(shown)


def test_an_exception_out_of_a_library_that_one_rank_swallowed() -> None:
    job = marked(
        """
def main():
    trainer.train()  # A0 H0 T0~
class Robust(Trainer):
    def training_step(self, *args):
        try:
            return super().training_step(*args)  # A1!~ H1!~
        except IndexError:  # first
            return zero
"""
    )
    found = divergence_points(job.sources, job.parting)
    assert [f"train.py:{one.frame.line}" for one in found[:1]] == list(job.first)


def test_where_no_library_holds_a_rank_no_callback_is_accused() -> None:
    job = marked(
        """
import torch.distributed as dist
class Own(Callback):
    def on_epoch_end(self, trainer):
        if loss.item() < 1:
            trainer.should_stop = True
def main():
    for batch in loader:
        dist.all_reduce(loss)  # A1 T1
        if dist.get_rank() == 0:  # first
            dist.barrier()  # H1
main()  # A0 H0 T0
"""
    )
    assert {one.frame.line for one in divergence_points(job.sources, job.parting)}.isdisjoint({4, 5})
