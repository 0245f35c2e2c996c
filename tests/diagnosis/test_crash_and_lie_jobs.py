"""Small real jobs through `ups-doctor run`: what failed is told, healthy ones are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Watch = Callable[..., Any]  # conftest.py's `watched`; conftest cannot be imported: each folder has one

MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 16)
        self.decoder = nn.Linear(16, 4)

    def forward(self, x):
        return self.decoder(self.encoder(x).relu())

def step(model, optimizer, x):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def made():
    model = Net()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)
"""
FAILING = """\
import torch
from model import made, step

def main():
    model, optimizer = made()
    for index in range(6):
        step(model, optimizer, torch.randn(4, 8 if index < 3 else 9))

"""


def test_both_ranks_of_a_wrong_shape_are_told_with_module_and_line(watched: Watch) -> None:
    train = "import torch.distributed as dist\n" + FAILING + "dist.init_process_group('gloo')\nmain()\n"
    told = watched("torchrun", "--nproc-per-node", "2", "--standalone", "train.py", model_py=MODEL, train_py=train)
    assert told.verdict == ("crash", "python-exception", [0, 1], "model.py:11")
    assert told.report["module"] == "encoder"
    assert told.code == 1


def test_a_logged_failure_that_leaves_with_0_is_told(watched: Watch) -> None:
    ending = (
        "import logging, sys\ntry:\n    main()\nexcept Exception:\n    logging.exception('failed')\n    sys.exit(0)\n"
    )
    told = watched("python", "train.py", model_py=MODEL, train_py=FAILING + ending)
    assert told.verdict == ("crash", "masked-exit", [0], "model.py:11")
    assert told.report["locations"][1] == "train.py:14"
    assert told.code == 70


def test_an_exception_on_its_way_to_os_exit_0_is_told(watched: Watch) -> None:
    told = watched(
        "python",
        "train.py",
        model_py=MODEL,
        train_py=FAILING + "import os\ntry:\n    main()\nfinally:\n    os._exit(0)\n",
    )
    assert told.verdict == ("crash", "masked-exit", [0], "model.py:11")
    assert told.report["locations"][1] == "train.py:13"


def test_a_pipe_that_hides_a_failure_is_told(watched: Watch) -> None:
    told = watched("bash", "run.sh", model_py=MODEL, train_py=FAILING + "main()\n",
                   run_sh="set -e\npython train.py | tee log.txt\necho done\n")  # fmt: skip
    assert told.verdict == ("crash", "masked-exit", [0], "model.py:11")
    assert told.report["locations"][1] == "run.sh:2"


DRIVER = """\
import subprocess, sys

def run(script):
    return subprocess.run([sys.executable, script], stderr=subprocess.DEVNULL).returncode

codes = {}
codes["train.py"] = run("train.py")
%s
print(codes)
"""


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("", ("crash", "masked-exit", [0], "model.py:11")),
        ("if codes['train.py']: codes['again'] = run('smaller.py')", ("ok", "none", [], None)),
    ],
)
def test_a_status_that_a_driver_only_shows_is_told_and_one_that_it_answers_is_left_alone(
    watched: Watch, answer: str, verdict: tuple[Any, ...]
) -> None:
    smaller = FAILING.replace("else 9", "else 8") + "main()\n"
    told = watched("python", "driver.py", model_py=MODEL, train_py=FAILING + "main()\n", smaller_py=smaller,
                   driver_py=DRIVER % answer)  # fmt: skip
    assert told.verdict == verdict
    assert told.report["locations"][1:2] == (["driver.py:4"] if verdict[0] == "crash" else [])


def test_a_worker_that_crashes_in_native_code_is_told_at_the_datasets_line(watched: Watch) -> None:
    train = (
        "import ctypes, torch\nfrom torch.utils.data import DataLoader\nfrom model import made, step\n\n"
        "class Samples:\n"
        "    def __len__(self):\n        return 40\n"
        "    def __getitem__(self, index):\n        if index == 21:\n"
        "            ctypes.string_at(1)\n        return torch.randn(8)\n\nmodel, optimizer = made()\n"
        "for x in DataLoader(Samples(), batch_size=4, num_workers=2):\n    step(model, optimizer, x)\n"
    )
    told = watched("python", "train.py", model_py=MODEL, train_py=train)
    assert told.verdict == ("crash", "data-worker-crash", [0], "train.py:10")


def test_a_loader_that_drops_its_only_batch_is_told(watched: Watch) -> None:
    train = (
        "import torch\nfrom torch.utils.data import DataLoader\nfrom model import made, step\n"
        "loader = DataLoader(torch.randn(5, 8), batch_size=16, drop_last=True)\nmodel, optimizer = made()\n"
        "for epoch in range(3):\n    for x in loader:\n        step(model, optimizer, x)\nprint('done')\n"
    )
    told = watched("python", "train.py", model_py=MODEL, train_py=train)
    assert told.verdict == ("silent-wrong", "zero-progress", [0], "train.py:4")
    assert told.code == 0


@pytest.mark.parametrize(
    "train",
    [
        "import logging, subprocess, torch\nfrom model import made, step\nmodel, optimizer = made()\n"
        "subprocess.run(['false'])\nfor index in range(6):\n    try:\n        if index == 3:\n"
        "            raise OSError('flaky')\n        x = torch.randn(4, 8)\n    except OSError:\n"
        "        logging.exception('the last batch again')\n    step(model, optimizer, x)\n",
        "import torch\nfrom model import Net\nmodel = Net().eval()\n"
        "with torch.no_grad():\n    model(torch.randn(4, 8))\n",
    ],
)
def test_retries_helpers_and_evaluation_are_left_alone(watched: Watch, train: str) -> None:
    told = watched("python", "train.py", model_py=MODEL, train_py=train)
    assert told.verdict == ("ok", "none", [], None)
    assert told.code == 0
