import logging

import torch
import torch.distributed as dist

from clip.data import make_loader
from clip.model import CLIP
from clip.train import train_one_epoch


def main():
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{dist.get_rank()} %(message)s")
    torch.manual_seed(0)
    model = CLIP()
    loader = make_loader(batch_size=5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(4):
        loss = train_one_epoch(model, loader, optimizer, epoch)
        mean = torch.tensor(loss)
        dist.reduce(mean, dst=0)
        if dist.get_rank() == 0:
            logging.info("epoch %d: %.4f", epoch, mean / dist.get_world_size())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
