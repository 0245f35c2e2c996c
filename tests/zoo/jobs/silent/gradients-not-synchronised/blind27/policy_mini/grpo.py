"""Group relative policy optimisation on a toy copy-and-reverse task."""
import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

VOCAB, PROMPT, REPLY = 12, 5, 5


class Policy(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB + 1, width)
        self.gru = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.out(self.gru(self.embed(tokens))[0])

    @torch.no_grad()
    def generate(self, prompt, steps, temperature=1.0):
        seq = torch.cat([prompt, torch.full((len(prompt), 1), VOCAB)], 1)
        for _ in range(steps):
            logits = self(seq)[:, -1] / temperature
            seq = torch.cat([seq, torch.multinomial(logits.softmax(-1), 1)], 1)
        return seq


def reward(seq):
    prompt, reply = seq[:, :PROMPT], seq[:, PROMPT + 1:]
    return (prompt == reply).float().mean(1)


def token_logprobs(net, seq):
    logp = net(seq[:, :-1]).log_softmax(-1)
    return logp.gather(-1, seq[:, 1:].clamp(max=VOCAB - 1).unsqueeze(-1)).squeeze(-1)[:, -REPLY:]


class GRPOTrainer:
    def __init__(self, policy, args, rank):
        self.args, self.rank = args, rank
        self.policy = DistributedDataParallel(policy) if dist.is_initialized() else policy
        self.raw = self.policy.module if hasattr(self.policy, "module") else self.policy
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=args.lr)
        self.gen = torch.Generator().manual_seed(args.seed * 1000 + rank)

    def rollout(self):
        prompts = torch.randint(0, VOCAB, (self.args.prompts, PROMPT), generator=self.gen)
        prompts = prompts.repeat_interleave(self.args.group, 0)
        self.raw.eval()
        seq = self.raw.generate(prompts, REPLY)
        self.raw.train()
        r = reward(seq).view(-1, self.args.group)
        adv = (r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)
        return seq, adv.reshape(-1, 1), r.mean()

    def update(self, seq, adv):
        with torch.no_grad():
            old = token_logprobs(self.raw, seq)
        for _ in range(self.args.inner):
            new = token_logprobs(self.raw, seq)
            ratio = (new - old).exp()
            clipped = ratio.clamp(1 - self.args.clip, 1 + self.args.clip)
            loss = -torch.min(ratio * adv, clipped * adv).mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        return loss.detach()

    def fit(self):
        for it in range(self.args.iterations):
            seq, adv, mean_reward = self.rollout()
            loss = self.update(seq, adv)
            stats = torch.stack([loss, mean_reward])
            dist.all_reduce(stats)
            stats /= dist.get_world_size()
            if self.rank == 0 and it % 10 == 0:
                print(f"iter {it:4d} loss {stats[0]:+.4f} reward {stats[1]:.3f}", flush=True)
        if self.rank == 0:
            torch.save(self.raw.state_dict(), self.args.save)


def warm_start(policy, steps, seed):
    g = torch.Generator().manual_seed(seed)
    opt = torch.optim.Adam(policy.parameters(), 3e-3)
    for _ in range(steps):
        prompt = torch.randint(0, VOCAB, (32, PROMPT), generator=g)
        seq = torch.cat([prompt, torch.full((32, 1), VOCAB), prompt], 1)
        loss = F.nll_loss(policy(seq[:, :-1]).log_softmax(-1)[:, -REPLY:].flatten(0, 1), prompt.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()


def worker(rank, world, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    policy = Policy()
    warm_start(policy, args.sft_steps, args.seed)
    torch.manual_seed(args.seed + rank)
    GRPOTrainer(policy, args, rank).fit()
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--world", type=int, default=2)
    p.add_argument("--iterations", type=int, default=100)
    p.add_argument("--prompts", type=int, default=16)
    p.add_argument("--group", type=int, default=8)
    p.add_argument("--inner", type=int, default=2)
    p.add_argument("--clip", type=float, default=0.2)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--sft-steps", type=int, default=150)
    p.add_argument("--seed", type=int, default=3)
    p.add_argument("--save", default="policy.pt")
    args = p.parse_args()
    args.port = free_port()
    mp.spawn(worker, args=(args.world, args), nprocs=args.world)
