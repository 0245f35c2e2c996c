import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from engine import Detector, Engine


class Boxes(Dataset):
    def __init__(self, n=480):
        g = torch.Generator().manual_seed(6)
        self.box, self.label = torch.rand(n, 4, generator=g), torch.randint(0, 4, (n,), generator=g)

    def __len__(self):
        return len(self.box)

    def __getitem__(self, i):
        image = 0.3 * torch.randn(3, 32, 32)
        x, y = (self.box[i, :2] * 22).long().tolist()
        image[self.label[i] % 3, y:y + 10, x:x + 10] += 2
        return image, self.label[i], self.box[i]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--output-dir", default="out")
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.ERROR, format="%(message)s")
    data = Boxes()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 12, sampler=sampler)
    model = DistributedDataParallel(Detector())
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    engine = Engine(model, opt, torch.optim.lr_scheduler.StepLR(opt, 3), args.output_dir)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        engine.train_one_epoch(loader, epoch)
        engine.save(epoch)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
