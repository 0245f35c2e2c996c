import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from rankstore import RankStore, rank_logger


class Gate(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.tanh(self.mix(x))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", default="runs/experts")
    ap.add_argument("--steps", type=int, default=5000)
    ap.add_argument("--every", type=int, default=500)
    args = ap.parse_args()
    dist.init_process_group("cpu:gloo,cuda:nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    store = RankStore(args.root)
    log = rank_logger(args.root)
    torch.manual_seed(500 + dist.get_rank())
    shared = Gate().to(device)
    expert = nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 128)).to(device)
    opt = torch.optim.AdamW([*shared.parameters(), *expert.parameters()], lr=3e-4)
    first = 0
    state = store.load()
    if state is not None:
        shared.load_state_dict(state["shared"])
        expert.load_state_dict(state["expert"])
        opt.load_state_dict(state["opt"])
        torch.set_rng_state(state["rng"])
        torch.cuda.set_rng_state(state["cuda_rng"], device)
        first = state["step"]
    gate = DDP(shared, device_ids=[device.index])
    for step in range(first, args.steps):
        x = torch.randn(64, 128, device=device)
        loss = nn.functional.mse_loss(expert(gate(x)), x.flip(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if (step + 1) % args.every == 0:
            store.save(step + 1, {
                "shared": shared.state_dict(), "expert": expert.state_dict(), "opt": opt.state_dict(),
                "rng": torch.get_rng_state(), "cuda_rng": torch.cuda.get_rng_state(device), "step": step + 1,
            })
            log.info("step %d loss %.5f", step + 1, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
