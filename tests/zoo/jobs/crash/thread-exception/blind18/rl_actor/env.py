import random


class Gridworld:
    actions = 4

    def __init__(self, side, seed):
        self.side = side
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        self.x = self.rng.randrange(self.side)
        self.y = self.rng.randrange(self.side)
        self.t = 0
        return self.obs()

    def obs(self):
        return [self.x / self.side, self.y / self.side, self.t / 40]

    def step(self, a):
        dx, dy = [(1, 0), (-1, 0), (0, 1), (0, -1)][a]
        self.x = max(0, min(self.side - 1, self.x + dx))
        self.y = max(0, min(self.side - 1, self.y + dy))
        self.t += 1
        goal = self.x == self.y == self.side - 1
        return self.obs(), float(goal), goal or self.t >= 40
