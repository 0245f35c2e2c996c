import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from losses import CrossBatchInfoNCE
from towers import CaptionedImages, ImageTower, TextTower


def broadcast_parameters(modules):
    for tensor in itertools.chain.from_iterable(m.state_dict().values() for m in modules):
        dist.broadcast(tensor, src=0)


def reduce_gradients(params):
    for p in params:
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad.div_(dist.get_world_size())


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    image_tower, text_tower, criterion = ImageTower(), TextTower(), CrossBatchInfoNCE()
    modules = [image_tower, text_tower, criterion]
    broadcast_parameters(modules)
    params = [p for m in modules for p in m.parameters()]
    optimizer = torch.optim.Adam(params, lr=3e-3)
    dataset = CaptionedImages()
    sampler = DistributedSampler(dataset, drop_last=True)
    loader = DataLoader(dataset, batch_size=12, sampler=sampler, drop_last=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4 * len(loader))
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for images, captions in loader:
            loss = criterion(image_tower(images), text_tower(captions))
            optimizer.zero_grad()
            loss.backward()
            reduce_gradients(params)
            nn.utils.clip_grad_norm_(params, 1.0)
            optimizer.step()
            scheduler.step()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f} scale {criterion.logit_scale.exp().item():.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
