import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from stepper import OptimConfig, Stepper


def mlp(width, classes):
    return nn.Sequential(nn.Linear(768, width), nn.GELU(), nn.Linear(width, classes))


def distill_loss(student, teacher, tau):
    p = F.log_softmax(student / tau, dim=-1)
    q = F.softmax(teacher / tau, dim=-1)
    return F.kl_div(p, q, reduction="batchmean") * tau * tau


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--features", required=True)
    ap.add_argument("--teacher", required=True)
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--tau", type=float, default=2.0)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    dev = torch.device("cuda", local)
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl")
    teacher = mlp(4096, 100).to(dev).eval().requires_grad_(False)
    teacher.load_state_dict(torch.load(args.teacher, map_location=dev))
    student = DDP(mlp(512, 100).to(dev), device_ids=[local])
    stepper = Stepper(student, OptimConfig())
    ds = TensorDataset(torch.load(args.features, map_location="cpu"))
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size=256, sampler=sampler)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            x = x.to(dev)
            with torch.autocast("cuda", dtype=torch.float16):
                with torch.no_grad():
                    t = teacher(x)
                loss = distill_loss(student(x), t, args.tau)
            stepper.backward(loss)
            norm = stepper.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} grad norm {norm}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
