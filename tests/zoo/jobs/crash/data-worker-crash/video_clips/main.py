import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from clips.dataset import Clips, init_worker


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--batch", default=6, type=int)
    return parser.parse_args()


def main(args):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loader = DataLoader(Clips(dist.get_rank()), batch_size=args.batch, num_workers=args.workers,
                        worker_init_fn=init_worker)
    model = DistributedDataParallel(nn.Linear(24, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            print(f"[{i}/{len(loader)}] {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(get_args())
