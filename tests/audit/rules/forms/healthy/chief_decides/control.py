import torch.distributed as dist


class Control:
    """The chief looks at all scores; everybody follows its word."""

    def __init__(self, patience=4):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def collect(self, rows):
        box = [None] * self.world if self.rank == 0 else None
        dist.gather_object(rows, box, dst=0)
        if self.rank != 0:
            return None
        return [row for part in box for row in part]

    def judge(self, rows):
        unique = {i: err for i, err in rows}
        score = sum(unique.values()) / len(unique)
        if score < self.best:
            self.best, self.bad = score, 0
        else:
            self.bad += 1
        return {"score": score, "improved": self.bad == 0, "stop": self.bad >= self.patience}

    def decide(self, rows):
        everything = self.collect(rows)
        word = [self.judge(everything) if self.rank == 0 else None]
        dist.broadcast_object_list(word, src=0)
        return word[0]
