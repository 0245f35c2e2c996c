import random


class SimulatorError(RuntimeError):
    pass


class Crawler:
    """A one-dimensional crawler. Its simulator is known to diverge now and then; it is then started anew."""

    def __init__(self, seed):
        self.random, self.steps = random.Random(seed), 0

    def reset(self):
        self.position, self.goal, self.left = 0, self.random.choice([-4, 4]), 12
        return [self.position / 4, self.goal / 4]

    def step(self, action):
        self.steps += 1
        if self.steps % 701 == 700:
            raise SimulatorError(f"contact solver diverged at step {self.steps}")
        self.position += (-1, 1)[action]
        self.left -= 1
        done = self.position == self.goal or self.left == 0
        return [self.position / 4, self.goal / 4], float(self.position == self.goal), done
