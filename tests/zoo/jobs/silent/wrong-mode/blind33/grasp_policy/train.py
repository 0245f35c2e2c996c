import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import demonstrations, pretraining_set
from policy import Backbone, GraspPolicy


def pretrain(path):
    backbone = Backbone()
    net = nn.Sequential(backbone, nn.Linear(backbone.out_dim, 2))
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(4):
        for image, centre in DataLoader(pretraining_set(), 64, shuffle=True):
            optimizer.zero_grad()
            F.mse_loss(net(image), centre).backward()
            optimizer.step()
    torch.save(backbone.state_dict(), path)


def load_policy(backbone_path, head=None):
    backbone = Backbone()
    backbone.load_state_dict(torch.load(backbone_path))
    policy = GraspPolicy(backbone)
    if head is not None:
        policy.load_state_dict(head, strict=False)
    return policy


@torch.no_grad()
def rollout_error(policy, dataset):
    policy.eval()
    err = 0.0
    for image, joints, action in DataLoader(dataset, 256):
        err += (policy(image, joints) - action).norm(dim=1).sum().item()
    return err / len(dataset)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--backbone", default="backbone.pt")
    p.add_argument("--out", default="policy_head.pt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    if rank == 0 and not os.path.exists(args.backbone):
        pretrain(args.backbone)
    dist.barrier()
    torch.manual_seed(1)
    model = DDP(load_policy(args.backbone))
    train_set, test_set = demonstrations(2048, 1), demonstrations(512, 2)
    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True)
    optimizer = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        total = 0.0
        for image, joints, action in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(image, joints), action)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch} bc loss {total / len(loader):.5f}", flush=True)
    if rank == 0:
        torch.save(model.module.trainable_state(), args.out)
        deployed = load_policy(args.backbone, torch.load(args.out))
        print(f"deployed policy: mean action error {rollout_error(deployed, test_set):.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
