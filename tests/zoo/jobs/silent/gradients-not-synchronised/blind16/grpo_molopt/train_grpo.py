import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from policy import TokenPolicy, rollout

log = logging.getLogger("grpo")


def token_logps(policy, seq, prompt_len):
    logits = policy(seq[:, :-1])
    lp = logits.log_softmax(-1).gather(-1, seq[:, 1:, None]).squeeze(-1)
    return lp[:, prompt_len - 1:]


def reward(seq):
    return (seq % 3 == 0).float().mean(1) - 0.2 * (seq[:, 1:] == seq[:, :-1]).float().mean(1)


class GRPOTrainer:
    def __init__(self, cfg, rank):
        self.cfg, self.rank = cfg, rank
        torch.manual_seed(11)
        self.policy = DDP(TokenPolicy())
        self.unwrapped = self.policy.module
        self.opt = torch.optim.AdamW(self.policy.parameters(), lr=cfg.lr)
        self.gen = torch.Generator().manual_seed(100 + rank)

    def step(self, it):
        prompts = torch.randint(0, 24, (4, 3), generator=self.gen).repeat_interleave(self.cfg.group, 0)
        seq = rollout(self.unwrapped, prompts, self.cfg.length, self.gen)
        r = reward(seq).view(-1, self.cfg.group)
        adv = ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)).view(-1, 1)
        logps = token_logps(self.unwrapped, seq, prompts.size(1))
        loss = -(adv * torch.exp(logps - logps.detach())).mean()
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.opt.step()
        mean_r = r.mean()
        dist.all_reduce(mean_r)
        if it % 20 == 0:
            log.info("it %d reward %.4f", it, mean_r / dist.get_world_size())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=160)
    ap.add_argument("--group", type=int, default=6)
    ap.add_argument("--length", type=int, default=12)
    ap.add_argument("--lr", type=float, default=3e-3)
    cfg = ap.parse_args()
    rank = int(os.environ["RANK"])
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    dist.init_process_group("gloo")
    tr = GRPOTrainer(cfg, rank)
    for it in range(cfg.iters):
        tr.step(it)
    log.info("weights %.6f", sum(p.double().abs().sum().item() for p in tr.unwrapped.parameters()))
    if rank == 0:
        torch.save(tr.unwrapped.state_dict(), "policy.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
