import torch


class Grid:
    MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self, size, n, gen):
        self.size, self.n, self.gen = size, n, gen

    def reset(self, distance):
        self.goal = torch.randint(self.size, (self.n, 2), generator=self.gen)
        shift = torch.randint(-distance, distance + 1, (self.n, 2), generator=self.gen)
        self.pos = (self.goal + shift).clamp(0, self.size - 1)
        return self.view()

    def view(self):
        return torch.cat([self.pos, self.goal], 1).float() / self.size

    def step(self, act):
        self.pos = (self.pos + self.MOVES[act]).clamp(0, self.size - 1)
        hit = (self.pos == self.goal).all(1)
        return self.view(), hit.float() - 0.02, hit


class Ladder:
    """Start distance grows when a worker's share of solved episodes is high enough."""

    def __init__(self, levels, promote_at):
        self.distances = list(range(1, levels + 1))
        self.promote_at = promote_at
        self.stage = 0
        self.recent = []

    def distance(self):
        return self.distances[self.stage]

    def report(self, solved):
        self.recent.append(solved)
        if len(self.recent) >= 8 and sum(self.recent[-8:]) / 8 > self.promote_at:
            self.stage += 1
            self.recent.clear()
