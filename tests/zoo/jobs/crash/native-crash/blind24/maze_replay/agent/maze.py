import random


class Maze:
    def __init__(self, seed, size=5):
        self.size, self.random = size, random.Random(seed)

    def reset(self):
        self.at, self.left = [0, 0], 30
        return self.view()

    def view(self):
        return [self.at[0] / self.size, self.at[1] / self.size]

    def step(self, action):
        axis, sign = divmod(action, 2)
        self.at[axis] = min(max(self.at[axis] + (1 if sign else -1), 0), self.size - 1)
        self.left -= 1
        won = self.at == [self.size - 1, self.size - 1]
        return self.view(), (1.0 if won else -0.01), won or self.left == 0
