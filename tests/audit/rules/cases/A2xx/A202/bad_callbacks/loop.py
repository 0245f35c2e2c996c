import torch
import torch.distributed as dist

from hooks import Clock, Scores


class Loop:
    def __init__(self, hooks):
        self.hooks = hooks
        self.epoch = 0

    def tell(self, name):
        for one in self.hooks:
            getattr(one, name)(self)

    def evaluate(self):
        total = torch.zeros(2)
        dist.all_reduce(total)
        return total[0] / total[1]

    def fit(self):
        for self.epoch in range(9):
            self.tell("on_epoch_end")


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Loop([Clock(), Scores()]).fit()
    dist.destroy_process_group()
