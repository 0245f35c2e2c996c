import random

import torch


class Transition:
    __slots__ = ("state", "action", "reward", "done", "previous")

    def __init__(self, state, action, reward, done, previous):
        self.state, self.action, self.reward, self.done, self.previous = state, action, reward, done, previous


class Memory:
    """Transitions, each with a reference to the one before it, from which n-step returns are made."""

    def __init__(self, n=4, gamma=0.97):
        self.n, self.gamma, self.last, self.items = n, gamma, None, []

    def add(self, state, action, reward, done):
        self.last = Transition(state, action, reward, done, self.last)
        self.items.append(self.last)

    def sample(self, count):
        states, actions, returns = [], [], []
        for item in random.choices(self.items[self.n:], k=count):
            total, node = 0.0, item
            for _ in range(self.n):
                total = node.reward + self.gamma * total * (not node.done)
                start, node = node, node.previous
                if node.done:
                    break
            states.append(start.state)
            actions.append(start.action)
            returns.append(total)
        return torch.tensor(states), torch.tensor(actions), torch.tensor(returns)

    def state_dict(self):
        return {"n": self.n, "gamma": self.gamma, "last": self.last}
