from __future__ import annotations

import argparse
from itertools import islice

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from recall.model import RecallLM
from recall.stream import segments


def train_step(model: DDP, opt: torch.optim.Optimizer, batch) -> float:
    loss = model(*batch)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    return loss.item()


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=80)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    model = DDP(RecallLM())
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step, batch in enumerate(islice(segments(dist.get_rank()), args.steps)):
        loss = train_step(model, opt, batch)
        if step % 5 == 0 and dist.get_rank() == 0:
            print(f"[{step:4d}] loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
