import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from deadline import Deadline


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=float, default=3000)
    ap.add_argument("--steps", type=int, default=1_000_000)
    ap.add_argument("--ckpt", default="state.pt")
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(device)
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step = 0
    if os.path.exists(args.ckpt):
        state = torch.load(args.ckpt, map_location=device, weights_only=True)
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
        step = state["step"]
    deadline = Deadline(args.seconds, device)
    gen = torch.Generator(device=device).manual_seed(step * 1009 + dist.get_rank())
    early = False
    while step < args.steps:
        x = torch.randn(128, 256, device=device, generator=gen)
        opt.zero_grad(set_to_none=True)
        nn.functional.mse_loss(model(x), x.roll(1, -1)).backward()
        opt.step()
        step += 1
        if step % 20 == 0 and deadline.reached():
            early = True
            break
    if dist.get_rank() == 0:
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, args.ckpt + ".new")
        os.replace(args.ckpt + ".new", args.ckpt)
        if early:
            open("requeue", "w").close()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
