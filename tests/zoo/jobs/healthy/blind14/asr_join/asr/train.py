import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from .cuts import Cuts
from .nets import Classifier


def share(rank, world, total):
    cuts = list(range(total))
    border = int(total * 0.54)
    return cuts[:border] if rank == 0 else cuts[border + (rank - 1) * (total - border) // max(1, world - 1):]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--cuts", type=int, default=1500)
    p.add_argument("--batch", type=int, default=16)
    args = p.parse_args()
    logging.basicConfig(level=logging.WARNING)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(19)
    data = Cuts(share(rank, dist.get_world_size(), args.cuts))
    model = DDP(Classifier(), find_unused_parameters=True)
    optim = torch.optim.Adam([q for q in model.parameters() if q.requires_grad], lr=2e-3)
    for epoch in range(args.epochs):
        gen = torch.Generator().manual_seed(epoch * 10 + rank)
        loader = DataLoader(data, batch_size=args.batch, shuffle=True, generator=gen)
        total = seen = 0
        with Join([model]):
            for step, (x, y) in enumerate(loader):
                use_aux = step % 4 == 0
                digits, aux = model(x, aux=use_aux)
                loss = F.cross_entropy(digits, y)
                if use_aux:
                    loss = loss + 0.2 * F.cross_entropy(aux, y % 2)
                optim.zero_grad()
                loss.backward()
                optim.step()
                total, seen = total + loss.item(), seen + 1
        counts = torch.tensor([total, float(seen)])
        dist.all_reduce(counts)
        if rank == 0:
            print(f"epoch {epoch} loss {counts[0] / counts[1]:.4f} batches {int(counts[1])}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
