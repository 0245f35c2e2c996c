"""Planted defects and healthy programs through real ranks, whole: what is said, and that nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diagnostics.machine.contract import Machine
from diagnostics.machine.this import open_machine
from diagnostics.parity.engine import Parity, run_parity
from diagnostics.parity.request import Form, ParityRequest

DEFECTS = Path(__file__).parent / "defects.py"
Ask = Callable[..., Parity]
SCRIPT = """\
import sys

import torch
from torch import distributed as dist, nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(24, 6), torch.randint(0, 3, (24,)))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 3)))
torch.manual_seed(dist.get_rank())
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    (loss * float(sys.argv[1])).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
raise SystemExit("the experiment ends before this")
"""
# Sentences of unlike lengths, each batch padded to its longest by the script's own function.
PADDED = """\
import torch
from torch import distributed as dist, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, DistributedSampler

def padded(rows):
    tags = pad_sequence([row % 3 for row in rows], batch_first=True, padding_value=-100)
    return {"words": pad_sequence(rows, batch_first=True), "tags": tags}

dist.init_process_group("gloo")
torch.manual_seed(0)
data = [torch.arange(1, 3 + index * 7 % 11) for index in range(24)]
sampler = DistributedSampler(data)
loader = DataLoader(data, 4, sampler=sampler, collate_fn=padded, num_workers=1, persistent_workers=True)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for batch in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(batch["words"]).flatten(0, 1), batch["tags"].flatten()).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 100.0)
    optimizer.step()
"""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with open_machine(sys.executable) as opened:
        opened.ranks.warm(for_modules=True)
        yield opened


@pytest.fixture
def ask(machine: Machine, tmp_path: Path) -> Ask:
    def parity(name: str = "", *, argv: tuple[str, ...] = (), **settings: object) -> Parity:
        form = Form.MADE if name else Form.SCRIPT
        whole = {"form": form, "name": name or argv[0], "make": f"{DEFECTS}:{name}", **settings}
        request = ParityRequest(python=sys.executable, argv=(sys.executable, *argv), **whole)  # type: ignore[arg-type]
        return run_parity(request, machine, tmp_path / "runs", lambda _: None)

    return parity


def said(found: Parity) -> tuple[int, list[tuple[str, str]]]:
    return found.exit_code, [(one.name, one.factor) for one in found.explanations]


def test_a_healthy_loop_with_dropout_is_the_same_to_the_last_digits(ask: Ask) -> None:
    found = ask("healthy_dropout", steps=2)
    assert said(found) == (0, [])
    assert found.measured is not None
    rows = {row.name: row.largest < 1e-12 for row in found.measured.rows}
    names = ("samples", "random numbers", "loss", "gradient", "parameters", "optimizer state")
    assert rows == dict.fromkeys(names, True)


def test_a_sharded_model_is_the_same(ask: Ask) -> None:
    assert said(ask("healthy_clipped", steps=2, wrap="fsdp2")) == (0, [])


@pytest.mark.parametrize(
    ("make", "name", "factor"),
    [
        ("summed_over_ranks", "scaled-gradient", "2 = number of ranks"),
        ("last_piece_not_synchronised", "not-synchronised", ""),
        ("batch_norm", "local-batch-statistics", ""),
    ],
)
def test_a_planted_defect_is_called_by_its_name(ask: Ask, make: str, name: str, factor: str) -> None:
    code, found = said(ask(make, steps=1))
    assert (code, found[0]) == (1, (name, factor))


LOCAL_COUNT = """\
import functools
import torch
from torch import nn

def loss(model, batch, weight=2.0):
    return weight * nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")

def make():
    torch.manual_seed(0)
    return nn.Linear(4, 3), LOSS, [(torch.randn(8, 4), torch.randint(0, 3, (8,)))] * 2
"""


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("loss", 5),
        ("functools.partial(loss, weight=3.0)", 5),
        ("lambda model, batch: loss(model, batch)", 10),
        ("nn.CrossEntropyLoss(reduction='sum')", 8),
    ],
)
def test_the_loop_of_the_doctor_is_no_line_of_the_users_the_definition_of_what_it_trains_with_is(
    ask: Ask, tmp_path: Path, given: str, line: int
) -> None:
    (tmp_path / "user.py").write_text(LOCAL_COUNT.replace("LOSS", given))
    found = ask(f"{tmp_path}/user.py:make", make=f"{tmp_path}/user.py:make", steps=1)
    assert found.exit_code == 1
    assert found.explanations[0].where == f"{tmp_path}/user.py:{line}"


def test_a_script_is_compared_as_it_is_and_its_line_is_named(ask: Ask, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    assert said(ask(argv=(str(script), "1"), steps=2)) == (0, [])


def test_batches_padded_to_lengths_of_their_own_are_made_one_by_the_scripts_own_function(
    ask: Ask, tmp_path: Path
) -> None:
    script = tmp_path / "padded.py"
    script.write_text(PADDED)
    found = ask(argv=(str(script),), steps=2)
    assert (found.exit_code, found.undecided, [one.name for one in found.explanations]) == (1, "", ["local-count"])


def test_a_script_that_reads_no_loader_cannot_be_compared(ask: Ask, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        SCRIPT.replace("for x, y in loader:", "for x, y in [(torch.randn(4, 6), torch.zeros(4).long())]:")
    )
    found = ask(argv=(str(script), "1"), steps=1)
    assert (found.exit_code, found.undecided.partition(",")[0]) == (
        3,
        "no torch DataLoader gave the ranks what they trained on",
    )


def test_a_rank_that_hangs_is_ended_and_nothing_is_decided(ask: Ask, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("    loss =", "    if dist.get_rank(): __import__('signal').pause()\n    loss ="))
    found = ask(argv=(str(script), "1"), steps=1, deadline_s=6.0)
    assert (found.exit_code, found.undecided) == (
        3,
        "with 2 ranks, it took 0 of 1 steps in 6 s and was ended: ranks 0 and 1 were still there",
    )


def test_ctrl_c_ends_all_processes_and_leaves_a_report(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("open('begun', 'w').close()\nimport signal\nsignal.pause()\n")
    doctor = [sys.executable, "-P", "-c", "from diagnostics.cli import main; main()"]
    process = subprocess.Popen(
        [*doctor, "parity", "--script", "train.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    (report,) = (tmp_path / "reports").glob("*-parity/report.md")
    assert (process.returncode, out) == (130, "Undecided: interrupted.\n")
    assert [line for line in err.splitlines() if line] == [
        "parity of train.py: 2 ranks and one process, 3 steps",
        f"report: {report.relative_to(tmp_path)}",
        "interrupted by Ctrl-C",
    ]
