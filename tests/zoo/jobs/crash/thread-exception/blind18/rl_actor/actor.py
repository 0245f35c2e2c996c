import queue
import random
import threading

import torch

from env import Gridworld


class RunningReturn:
    def __init__(self, window):
        self.window = window
        self.values = []

    def push(self, v):
        self.values.append(v)
        self.values = self.values[-self.window:]

    def scale(self):
        hits = [v for v in self.values if v > 0]
        return sum(self.values) / len(hits)


class Actor(threading.Thread):
    def __init__(self, side, seed, horizon, maxsize=4):
        super().__init__(name=f"actor-{seed}", daemon=True)
        self.env = Gridworld(side, seed)
        self.rng = random.Random(seed)
        self.horizon = horizon
        self.out = queue.Queue(maxsize)
        self.stats = RunningReturn(64)
        self.episodes = 0

    def run(self):
        obs = self.env.reset()
        while True:
            roll = []
            for _ in range(self.horizon):
                a = self.rng.randrange(Gridworld.actions)
                nxt, r, done = self.env.step(a)
                roll.append((obs, a, r))
                obs = nxt
                if done:
                    self.stats.push(r)
                    self.episodes += 1
                    obs = self.env.reset()
            norm = self.stats.scale() if self.episodes >= 64 else 1.0
            o, a, r = zip(*roll)
            self.out.put((torch.tensor(o), torch.tensor(a), torch.tensor(r) / (norm + 1e-3)))
