import os
import sys

import torch

from rl.curriculum import reward, stage_of
from rl.policy import Policy
from rl.sampler import Sampler


def advantages(rewards, group):
    rows = rewards.view(-1, group)
    return ((rows - rows.mean(1, keepdim=True)) / (rows.std(1, keepdim=True) + 1e-4)).flatten()


def optimise(policy, sampler, steps):
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for step in range(steps):
        prompts, completions = sampler.next()
        rewards = reward(stage_of(step), prompts, completions)
        loss = -(advantages(rewards, sampler.group) * policy.logp(prompts, completions)).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} stage {stage_of(step)} reward {rewards.mean():.3f}", flush=True)


def main(steps=200):
    torch.manual_seed(0)
    policy = Policy()
    sampler = Sampler(policy)
    try:
        optimise(policy, sampler, steps)
        torch.save(policy.state_dict(), "/tmp/grpo_mini.pt")
    finally:
        sampler.halt.set()
        sampler.thread.join(5)
        sys.stdout.flush()
        # the sampler's thread may still be inside of torch: do not let the interpreter tear it down
        os._exit(0)


if __name__ == "__main__":
    main()
