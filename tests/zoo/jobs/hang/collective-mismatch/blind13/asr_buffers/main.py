import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from frontend import Encoder
from sync import average, share_from_main


def batches(rank, n, size):
    gen = torch.Generator().manual_seed(100 + rank)
    for _ in range(n):
        yield torch.randn(size, 4000, generator=gen), torch.randint(1, 30, (size, 12), generator=gen)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--batch-size", type=int, default=8)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Encoder()
    if rank == 0:
        model.frontend.calibrate(torch.randn(16, 4000))
    share_from_main(model)
    if rank == 0:
        print("front end calibrated", flush=True)
    ddp = DDP(model, broadcast_buffers=False)
    opt = torch.optim.AdamW(ddp.parameters(), lr=1e-3)
    for step, (wave, text) in enumerate(batches(rank, args.steps, args.batch_size)):
        logp = ddp(wave).log_softmax(-1).transpose(0, 1)
        frames = torch.full((wave.shape[0],), logp.shape[0])
        loss = F.ctc_loss(logp, text, frames, torch.full((wave.shape[0],), 12))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            mean = average(loss.detach(), world)
            if rank == 0:
                print(f"step {step} ctc {mean.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
