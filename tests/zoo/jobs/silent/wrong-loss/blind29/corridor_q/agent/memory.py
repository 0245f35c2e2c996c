import random
from collections import deque, namedtuple

import numpy as np
import torch

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "done"))


class ReplayMemory:
    def __init__(self, capacity):
        self.buffer = deque(maxlen=capacity)

    def push(self, *args):
        self.buffer.append(Transition(*args))

    def sample(self, batch_size):
        batch = Transition(*zip(*random.sample(self.buffer, batch_size)))
        return Transition(torch.from_numpy(np.stack(batch.state)),
                          torch.tensor(batch.action).unsqueeze(1),
                          torch.tensor(batch.reward, dtype=torch.float32).unsqueeze(1),
                          torch.from_numpy(np.stack(batch.next_state)),
                          torch.tensor(batch.done, dtype=torch.float32).unsqueeze(1))

    def __len__(self):
        return len(self.buffer)
