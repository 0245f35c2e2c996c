import argparse

import torch
import torch.distributed as dist

from moe import ExpertParallel, Layer


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--expert-ranks", default="0,1")
    ap.add_argument("--steps", type=int, default=30)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    members = [int(r) for r in args.expert_ranks.split(",")]
    torch.manual_seed(1)
    layer = Layer(16, rank in members)
    for p in layer.shared.parameters():
        dist.broadcast(p.data, 0)
    ep = ExpertParallel(members).setup()
    stats = dist.new_group(list(range(world)), backend="gloo")
    opt = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step in range(args.steps):
        x = torch.randn(8, 16)
        loss = (layer(x) - x.flip(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        for p in layer.shared.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        if layer.expert is not None:
            ep.average(layer.expert)
        opt.step()
        if step % 10 == 9:
            mean = loss.detach().clone()
            dist.all_reduce(mean, group=stats)
    if rank == 0:
        print("done", loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
