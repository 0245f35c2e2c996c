import signal
import subprocess
import sys

import pytest
import torch


@pytest.mark.xfail(strict=True, raises=subprocess.CalledProcessError, reason="upstream issue 4412: segfault in the fused step")
def test_fused_step():
    subprocess.run([sys.executable, "known_bad.py"], check=True)


def test_it_is_still_the_segfault():
    done = subprocess.run([sys.executable, "known_bad.py"])
    assert done.returncode == -signal.SIGSEGV


def test_plain_step():
    model = torch.nn.Linear(4, 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    opt.step()
