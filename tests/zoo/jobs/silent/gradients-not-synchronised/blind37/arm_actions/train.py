"""Behaviour cloning: an encoder of observations and an action head."""
import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self, obs=30, dim=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, dim), nn.LayerNorm(dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, obs):
        return self.net(obs)


class ActionHead(nn.Module):
    def __init__(self, dim=64, chunk=4, action_dim=7):
        super().__init__()
        self.chunk, self.action_dim = chunk, action_dim
        self.model = nn.Sequential(nn.ReLU(), nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, chunk * action_dim))

    def predict_action(self, hidden):
        return self.model(hidden).view(-1, self.chunk, self.action_dim)

    def forward(self, hidden):
        return self.predict_action(hidden)


def demonstrations(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(30, 28, generator=torch.Generator().manual_seed(4)) / 5
    obs = torch.randn(n, 30, generator=g)
    return TensorDataset(obs, (torch.sin(obs @ w) + 0.05 * torch.randn(n, 28, generator=g)).view(n, 4, 7))


def run_forward_pass(vla, action_head, batch):
    obs, actions = batch
    hidden = vla(obs)
    predicted = action_head.module.predict_action(hidden)
    return F.l1_loss(predicted, actions)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=24)
    ap.add_argument("--max-steps", type=int, default=500)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)
    data = demonstrations(4800, 0)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, args.batch_size, sampler=sampler, drop_last=True)
    vla, action_head = DDP(Encoder()), DDP(ActionHead())
    opt = torch.optim.AdamW([*vla.parameters(), *action_head.parameters()], lr=args.lr)
    step, epoch = 0, 0
    while step < args.max_steps:
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = run_forward_pass(vla, action_head, batch)
            loss.backward()
            opt.step()
            opt.zero_grad()
            step += 1
            if step % 100 == 0:
                shown = loss.detach().clone()
                dist.all_reduce(shown)
                if rank == 0:
                    print(f"step {step} l1 {shown.item() / dist.get_world_size():.4f}", flush=True)
            if step == args.max_steps:
                break
        epoch += 1
    if rank == 0:
        torch.save({"vla": vla.module.state_dict(), "action_head": action_head.module.state_dict()}, "policy.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
