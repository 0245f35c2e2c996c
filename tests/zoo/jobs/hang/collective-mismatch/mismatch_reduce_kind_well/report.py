import torch
import torch.distributed as dist


class Report:
    def __init__(self, rank, root=0):
        self.rank, self.root, self.history = rank, root, []

    @property
    def writes(self):
        return self.rank == self.root

    def add(self, step, errors):
        stats = torch.stack([errors.sum(), errors.new_tensor(len(errors))])
        if self.writes:
            dist.reduce(stats, dst=self.root)
            self.history.append((step, (stats[0] / stats[1]).item()))
            print("step %d mean error %.3f" % self.history[-1], flush=True)
        else:
            dist.reduce(stats, dst=self.root)

    def close(self):
        dist.barrier()
        if self.history:
            with open("history.txt", "w") as f:
                f.writelines(f"{step} {error}\n" for step, error in self.history)
