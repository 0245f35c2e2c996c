import torch.distributed as dist


class AverageMeter:
    def __init__(self):
        self.history = []
        self.clear()

    def clear(self):
        self.sum = 0.0
        self.count = 0

    def update(self, val, n=1):
        self.sum = self.sum + val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)

    def new_epoch(self):
        if self.count:
            self.history.append(self.avg)
        self.clear()


class Stats:
    def __init__(self, *names):
        self.meters = {n: AverageMeter() for n in names}

    def update(self, n, **values):
        for k, v in values.items():
            self.meters[k].update(v, n)

    def roll(self):
        for m in self.meters.values():
            m.new_epoch()

    def last(self, name):
        return float(self.meters[name].history[-1])

    def best(self, name):
        return min(float(v) for v in self.meters[name].history)


def reduce_mean(t):
    t = t.detach().clone()
    dist.all_reduce(t)
    return t / dist.get_world_size()
