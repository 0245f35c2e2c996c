import random

SIZE = 6
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Grid:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.reset()

    def reset(self):
        self.pos = (self.random.randrange(SIZE), self.random.randrange(SIZE))
        self.goal = (self.random.randrange(SIZE), self.random.randrange(SIZE))
        self.left = 20
        return self.observe()

    def observe(self):
        return [c / SIZE for c in self.pos + self.goal]

    def step(self, action):
        dy, dx = MOVES[action]
        self.pos = (min(max(self.pos[0] + dy, 0), SIZE - 1), min(max(self.pos[1] + dx, 0), SIZE - 1))
        self.left -= 1
        done = self.pos == self.goal or self.left == 0
        return self.observe(), (1.0 if self.pos == self.goal else -0.02), done
