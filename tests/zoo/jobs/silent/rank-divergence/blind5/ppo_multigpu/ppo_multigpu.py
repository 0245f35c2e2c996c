import os
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical

from envs import PointChaseVecEnv


@dataclass
class Args:
    seed: int = 1
    num_iterations: int = 6
    local_num_envs: int = 8
    num_steps: int = 32
    learning_rate: float = 2.5e-3
    gamma: float = 0.95
    gae_lambda: float = 0.95
    num_minibatches: int = 2
    update_epochs: int = 4
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


def layer_init(layer, std=2**0.5, bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(layer_init(nn.Linear(3, 32)), nn.Tanh(), layer_init(nn.Linear(32, 32)), nn.Tanh())
        self.actor = layer_init(nn.Linear(32, 3), std=0.01)
        self.critic = layer_init(nn.Linear(32, 1), std=1)

    def get_value(self, x):
        return self.critic(self.network(x)).flatten()

    def get_action_and_value(self, x, action=None):
        hidden = self.network(x)
        probs = Categorical(logits=self.actor(hidden))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden).flatten()


def rollout(agent, envs, obs, args):
    T, N = args.num_steps, args.local_num_envs
    store = {"obs": torch.zeros(T, N, 3), "actions": torch.zeros(T, N, dtype=torch.long),
             "logprobs": torch.zeros(T, N), "rewards": torch.zeros(T, N), "dones": torch.zeros(T, N),
             "values": torch.zeros(T, N)}
    with torch.no_grad():
        for t in range(T):
            action, logprob, _, value = agent.get_action_and_value(obs)
            nxt, reward, done = envs.step(action.numpy())
            for key, val in zip(store, (obs, action, logprob, reward, done, value)):
                store[key][t] = torch.as_tensor(val)
            obs = torch.from_numpy(nxt)
        next_value, advantages, last = agent.get_value(obs), torch.zeros(T, N), 0
        for t in reversed(range(T)):
            live = 1.0 - store["dones"][t]
            delta = store["rewards"][t] + args.gamma * next_value * live - store["values"][t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * live * last
            next_value = store["values"][t]
    store["advantages"], store["returns"] = advantages, advantages + store["values"]
    return {k: v.flatten(0, 1) for k, v in store.items()}, obs


def update(agent, optimizer, batch, args, world_size):
    for _ in range(args.update_epochs):
        for inds in torch.randperm(len(batch["obs"])).chunk(args.num_minibatches):
            mb = {k: v[inds] for k, v in batch.items()}
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(mb["obs"], mb["actions"])
            ratio = (newlogprob - mb["logprobs"]).exp()
            adv = (mb["advantages"] - mb["advantages"].mean()) / (mb["advantages"].std() + 1e-8)
            pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)).mean()
            v_loss = 0.5 * ((newvalue - mb["returns"]) ** 2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss

            optimizer.zero_grad()
            loss.backward()
            if world_size > 1:
                grads = torch.cat([p.grad.view(-1) for p in agent.parameters()])
                dist.all_reduce(grads, op=dist.ReduceOp.SUM)
                offset = 0
                for p in agent.parameters():
                    p.grad.data.copy_(grads[offset : offset + p.numel()].view_as(p.grad) / world_size)
                    offset += p.numel()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()


if __name__ == "__main__":
    args = Args()
    torch.set_num_threads(1)
    local_rank = int(os.getenv("LOCAL_RANK", "0"))
    world_size = int(os.getenv("WORLD_SIZE", "1"))
    if world_size > 1:
        dist.init_process_group("gloo", rank=local_rank, world_size=world_size)

    args.seed += local_rank
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    envs = PointChaseVecEnv(args.local_num_envs, seed=args.seed)
    agent = Agent()
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    obs = torch.from_numpy(envs.reset())
    for iteration in range(1, args.num_iterations + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - (iteration - 1.0) / args.num_iterations) * args.learning_rate
        batch, obs = rollout(agent, envs, obs, args)
        update(agent, optimizer, batch, args, world_size)
        if local_rank == 0:
            print(f"iteration {iteration} mean reward {batch['rewards'].mean().item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
