import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from nets import Encoder, Student, Teacher
from waves import waves


def warm_start(student, path):
    missing, unexpected = student.load_state_dict(torch.load(path), strict=False)
    logging.info("warm start: new %s, left out %s", sorted({m.split(".")[0] for m in missing}), unexpected)
    return student


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--init", required=True)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--decay", type=float, default=0.98)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    student = warm_start(Student(Encoder()), a.init)
    teacher = Teacher(student.encoder, a.decay)
    model = DistributedDataParallel(student)
    data = TensorDataset(waves(1024, 0)[0])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler, drop_last=True)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    g = torch.Generator().manual_seed(100 + rank)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for (x,) in loader:
            noisy = x + 0.3 * torch.randn(x.shape, generator=g)
            loss = 1 - F.cosine_similarity(model(noisy), teacher(x)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            teacher.follow(student.encoder)
        logging.info("epoch %d loss %.4f", epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
