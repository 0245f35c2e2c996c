import random
from collections import deque


class HardExampleReplay:
    """Keeps the batches that the model found hard and gives them back once in a while."""

    def __init__(self, capacity, quantile_decay=0.98, every=8, seed=0):
        self.buffer = deque(maxlen=capacity)
        self.level, self.decay = None, quantile_decay
        self.every, self.calls = every, 0
        self.rng = random.Random(seed)

    def offer(self, batch, loss):
        self.level = loss if self.level is None else self.decay * self.level + (1 - self.decay) * loss
        if loss > 0.7 * self.level:
            self.buffer.append(batch)

    def maybe_replay(self):
        self.calls += 1
        if self.buffer and self.calls % self.every == 0:
            return self.rng.choice(self.buffer)
        return None
