import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from actors import ActorPool


class Policy(nn.Module):
    def __init__(self, obs=8, actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.pi, self.v = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1)


def returns(reward, done, gamma=0.99):
    out, total = torch.zeros_like(reward), 0.0
    for t in reversed(range(len(reward))):
        total = reward[t] + gamma * total * (1 - done[t])
        out[t] = total
    return out


def learn(model, optimizer, chunk, device):
    obs, action, reward, done = (torch.as_tensor(c, dtype=torch.float32, device=device) for c in chunk)
    logits, value = model(obs)
    d = torch.distributions.Categorical(logits=logits)
    target = returns(reward, done)
    loss = -(d.log_prob(action) * (target - value.detach())).mean()
    loss = loss + 0.5 * (value - target).pow(2).mean() - 0.01 * d.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return reward.sum()


def main(updates=20000, count=8):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = torch.device("cuda", local)
    torch.manual_seed(2)
    policy = Policy().to(device)  # cause
    pool = ActorPool(count, "LunarLander-v2", policy, device, offset=count * rank)  # cause
    pool.start()
    model = DistributedDataParallel(policy, device_ids=[local])
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-4)
    for update in range(updates):
        score = learn(model, optimizer, pool.queue.get(), device)
        if update % 100 == 0:
            dist.all_reduce(score)
            if rank == 0:
                print(update, score.item(), flush=True)
    pool.stop()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
