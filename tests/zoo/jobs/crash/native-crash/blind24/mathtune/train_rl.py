import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

from policy import VOCAB, Policy, decode
from rewards import score


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def imitate(policy, rounds=800):
    """Keeps the policy near short, well-formed sums: local steps, then one average."""
    module = policy.module
    local = torch.optim.SGD(module.parameters(), lr=0.05)
    for _ in range(rounds):
        prompts = torch.randint(0, 20, (256,))
        state = module.cell(torch.zeros(256, len(VOCAB)), module.embed(prompts))
        loss = torch.nn.functional.cross_entropy(module.head(state), prompts % 10)
        local.zero_grad()
        loss.backward()
        local.step()
    for parameter in module.parameters():
        dist.all_reduce(parameter.data)
        parameter.data /= dist.get_world_size()


def optimise(policy, optimizer, logp, advantage):
    loss = -(logp * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(20 + rank)
    policy = DDP(Policy())
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for it in range(60):
        prompts = torch.randint(0, 20, (48,))
        logp, tokens = policy(prompts)
        rewards = torch.tensor(score(decode(tokens), prompts.tolist()))
        loss = optimise(policy, optimizer, logp, rewards - rewards.mean())
        if it % 15 == 14:
            imitate(policy)
        if rank == 0 and it % 10 == 0:
            print(f"it {it:4d} reward {rewards.mean():+.3f} loss {loss:+.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2, free_port()), nprocs=2)
