"""Trajectories are scored in threads and gathered in groups."""
import queue
import threading
from dataclasses import dataclass

import torch


@dataclass
class TrajectoryGroup:
    step: int
    prompt: int
    rewards: torch.Tensor

    @property
    def advantages(self):
        return (self.rewards - self.rewards.mean()) / (self.rewards.std() + 1e-6)


class RolloutWorkers:
    """Puts one group for each prompt into the results."""

    def __init__(self, results_queue, threads=2):
        self.results_queue = results_queue
        self.prompts = queue.Queue()
        for number in range(threads):
            threading.Thread(target=self._work, name=f"rollout-{number}", daemon=True).start()

    def submit(self, step, prompts):
        for prompt in prompts:
            self.prompts.put((step, prompt))

    def _work(self):
        while True:
            step, prompt = self.prompts.get()
            generator = torch.Generator().manual_seed(1000 * step + prompt)
            rewards = (torch.rand(4, generator=generator) > 0.4).float()
            rewards[0], rewards[1] = 0.0, 1.0
            if prompt % 7 == 5:
                rewards = torch.ones(4)
            self.results_queue.put(TrajectoryGroup(step, prompt, rewards))


def pack(groups, width=8):
    rows = []
    for group in groups:
        generator = torch.Generator().manual_seed(group.prompt)
        states = torch.randn(4, width, generator=generator)
        rows.append((states, group.advantages))
    if not rows:
        return torch.zeros(1, width), torch.zeros(1)
    return torch.cat([s for s, _ in rows]), torch.cat([a for _, a in rows])
