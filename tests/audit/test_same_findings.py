"""An audit says the same each time: the order of sets and the addresses of objects differ between processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from diagnostics.static.ordering.event_traces import MAX_TRACES

PROJECT = Path(__file__).parent.parent.parent
PROGRAMS = Path(__file__).parent / "rules" / "forms" / "faulty"
SEEDS = ("0", "1", "2")
EARLY = """
def start_{number}():
    loader = DataLoader(DATA, sampler=DistributedSampler(DATA))
    dist.init_process_group("nccl")
    return loader

def ended_{number}():
    dist.destroy_process_group()
    dist.barrier()
"""


def audited(folder: Path, seed: str) -> dict[str, Any]:
    command = [sys.executable, "-c", "from diagnostics.cli import main; main()", "audit", "--no-cache", "--json"]
    command += ["--possible", "--advice"]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode in (0, 1)
    answer: dict[str, Any] = json.loads(done.stdout)
    del answer["seconds"]
    return answer


def test_a_corpus_gives_the_same_findings_whatever_the_order_of_sets(tmp_path: Path) -> None:
    for folder in sorted(PROGRAMS.iterdir())[::5]:
        shutil.copytree(folder, tmp_path / folder.name)
    first, *others = (audited(tmp_path, seed) for seed in SEEDS)
    assert len(first["findings"]) > 20
    assert all(other == first for other in others)


def test_a_project_with_more_programs_than_are_followed_gives_the_same_findings_each_time(tmp_path: Path) -> None:
    head = "import torch.distributed as dist\nfrom torch.utils.data import DataLoader, DistributedSampler\n"
    many = "".join(EARLY.format(number=number) for number in range(MAX_TRACES // 2 + 40))
    (tmp_path / "many.py").write_text(head + many)
    first, *others = (audited(tmp_path, seed) for seed in SEEDS)
    assert first["findings"]
    assert all(other == first for other in others)
