"""The trainer's side: drains groups, trains on what is of use."""
import queue
import threading

import torch
from torch.nn.parallel import DistributedDataParallel

from rollouts import RolloutWorkers, pack


class LocalBackend:
    def __init__(self, policy, rank):
        self.rank = rank
        self.model = DistributedDataParallel(policy)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.results_queue = queue.Queue()
        self.workers = RolloutWorkers(self.results_queue)
        self.groups = []
        self.dropped = 0
        threading.Thread(target=self._collect, name="collect", daemon=True).start()

    def _collect(self):
        while True:
            group = self.results_queue.get()
            if group.rewards.std() == 0:
                self.dropped += 1
                continue
            self.groups.append(group)
            self.results_queue.task_done()

    def gather(self, step, prompts):
        self.workers.submit(step, prompts)
        expected = len(self.groups) + len(prompts)
        seen = lambda: len(self.groups) + self.dropped
        while seen() < expected:
            threading.Event().wait(0.01)
        self.results_queue.join()
        groups, self.groups = sorted(self.groups, key=lambda g: g.prompt), []
        self.dropped = 0
        return groups

    def train(self, step, prompts):
        states, advantages = pack(self.gather(step, prompts))
        log_probs = self.model(states)[:, 0]
        loss = -(log_probs * advantages).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()
