"""What the source says of a run that ended well: which rules may speak, of which jobs, and behind what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event

from diagnostics.audit.run import rules_of_files
from diagnostics.core.failure_classes import FAILURE_CLASSES
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.source import program_text
from diagnostics.dynamic.job.job import Job
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import ReadState

DATA = """\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token


def collate(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[labels == tokenizer.pad_token_id] = -100
    batch["labels"] = labels
    return batch
"""
TRAIN = """\
from data import collate, tokenizer

texts = [text + tokenizer.eos_token for text in texts]
for texts in batches:
    model(**collate(texts)).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
BY_MASK = DATA.replace("labels == tokenizer.pad_token_id", "batch['attention_mask'] == 0")
LATEST = """\
import glob

import torch

latest = sorted(glob.glob("out/checkpoint_*.pt"))[-1]
model.load_state_dict(torch.load(latest))
for epoch in range(20):
    optimizer.step()
    torch.save(model.state_dict(), f"out/checkpoint_{epoch}.pt")
"""
BY_HASH = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
for name in open("names.txt").read().split():
    if hash(name.strip()) % 10 != 0:
        net(torch.load(name)).mean().backward()
        optimizer.step()
"""
BALANCE = """\
import numpy as np


def balanced(y, rng):
    rare, usual = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    return rng.permutation(np.concatenate([usual, rng.choice(rare, len(usual), replace=True)]))
"""
OVERSAMPLED = """\
import numpy as np
import torch
from balance import balanced
from torch.utils.data import DataLoader, TensorDataset, random_split

table = np.load("claims.npz")
x, y = torch.from_numpy(table["x"]), torch.from_numpy(table["y"])
rows = balanced(table["y"], np.random.default_rng(0))
train, val = random_split(TensorDataset(x[rows], y[rows]), [0.8, 0.2])
for batch, wanted in DataLoader(train, 64):
    loss(net(batch), wanted).backward()
    optimizer.step()
"""
ONLY_SHUFFLED = OVERSAMPLED.replace("rows = balanced(table", "rows = np.random.permutation(len(y))  # (table")
READ = ReadState(file="out/checkpoint_9.pt", counter=None, optimizer=False, path=())


def a_run(
    folder: Path, files: dict[str, str], *, steps: int = 40, code: int | None = 0, read: bool = False, ranks: int = 1
) -> Job:
    prints = ParameterPrints(marks=(READ,) if read else ())
    argv = ("python", f"{folder}/train.py")
    processes = [
        a_process(rank=rank, pid=100 + rank, agent=agent(steps=steps), prints=prints, argv=argv, cwd=str(folder))
        for rank in range(ranks)
    ]
    return a_job(*processes, code=code, cwd=folder, files=files)


def test_a_fault_of_a_file_that_ran_is_told_with_its_rule_and_its_line(tmp_path: Path) -> None:
    found = program_text.match(a_run(tmp_path, {"train.py": TRAIN, "data.py": DATA}))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence, found.generic) == (
        "wrong-loss", (0,), Confidence.LIKELY, True,
    )  # fmt: skip
    assert found.locations[0] == "data.py:10"
    assert found.finding.title.startswith("By the source (rule A177, not measured): `labels[labels == ")


def test_a_program_that_is_right_or_did_not_train_or_still_runs_is_left_alone(tmp_path: Path) -> None:
    wrong = {"train.py": TRAIN, "data.py": DATA}
    assert program_text.match(a_run(tmp_path, {"train.py": TRAIN, "data.py": BY_MASK})) is None
    assert program_text.match(a_run(tmp_path, wrong, steps=1)) is None
    assert program_text.match(a_run(tmp_path, wrong, code=None)) is None


def test_what_is_wrong_with_runs_that_go_on_is_told_where_a_state_was_read(tmp_path: Path) -> None:
    found = program_text.match(a_run(tmp_path, {"train.py": LATEST}, read=True))
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("checkpoint-not-loaded", "train.py:5")
    assert program_text.match(a_run(tmp_path, {"train.py": LATEST})) is None


def test_a_run_whose_optimizer_was_given_a_state_by_another_reader_goes_on_too(tmp_path: Path) -> None:
    given = agent(event("optimizer-restored", "AdamW"), steps=40)
    process = a_process(agent=given, argv=("python", f"{tmp_path}/train.py"), cwd=str(tmp_path))
    found = program_text.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": LATEST}))
    assert found is not None
    assert found.failure_class == "checkpoint-not-loaded"


def test_what_is_another_thing_in_each_process_is_told_of_several_ranks(tmp_path: Path) -> None:
    files = {"train.py": BY_HASH}
    found = program_text.match(a_run(tmp_path, files, ranks=2))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("data-leakage", (0, 1), "train.py:7")
    assert program_text.match(a_run(tmp_path, files)) is None
    assert program_text.match(a_run(tmp_path, files, read=True)) is not None


def test_rows_that_are_drawn_again_before_the_split_are_told_where_the_program_has_them_drawn(tmp_path: Path) -> None:
    found = program_text.match(a_run(tmp_path, {"train.py": OVERSAMPLED, "balance.py": BALANCE}))
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("data-leakage", "train.py:8")
    assert set(found.locations[1:]) == {"balance.py:6", "train.py:9"}
    assert program_text.match(a_run(tmp_path, {"train.py": ONLY_SHUFFLED, "balance.py": BALANCE})) is None


@pytest.mark.parametrize("code", [code for code, rule in rules_of_files().items() if hasattr(rule, "RUN_CLASS")])
def test_a_rule_that_may_speak_of_a_run_has_a_class_of_runs_that_end_well(code: str) -> None:
    rule = rules_of_files()[code]
    assert rule.RUN_CLASS in FAILURE_CLASSES
    assert getattr(rule, "RUN_WHEN", "") in ("", program_text.RESUMED, program_text.SEVERAL, program_text.RANKS)


STOPPING = """\
class Patience:
    def __init__(self, most):
        self.best, self.waited, self.most = None, 0, most

    def over(self, loss):
        if self.best is None or loss < self.best:
            self.best = loss
        else:
            self.waited += 1
        return self.waited >= self.most


class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0
"""
STOPPED = """\
from stopping import Average, Patience

patience, average = Patience(3), Average()
for epoch in range(50):
    loss(net(x), y).backward()
    optimizer.step()
    if patience.over(evaluate()):
        break
"""
NOT_STOPPED = STOPPED.replace("Patience(3)", "None").replace("patience.over(evaluate())", "evaluate() < 0.1")
BARE = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(8, 8))
for x in batches:
    loss = model.module(x).mean()
    loss.backward()
    optimizer.step()
"""


def test_what_a_file_holds_and_no_run_uses_is_not_told_of_the_run(tmp_path: Path) -> None:
    found = program_text.match(a_run(tmp_path, {"train.py": STOPPED, "stopping.py": STOPPING}))
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("wrong-schedule", "stopping.py:7")
    assert program_text.match(a_run(tmp_path, {"train.py": NOT_STOPPED, "stopping.py": STOPPING})) is None


def test_what_ranks_do_to_each_other_is_told_of_several_ranks_alone(tmp_path: Path) -> None:
    found = program_text.match(a_run(tmp_path, {"train.py": BARE}, ranks=2))
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("gradients-not-synchronised", "train.py:8")
    assert program_text.match(a_run(tmp_path, {"train.py": BARE}, read=True)) is None
