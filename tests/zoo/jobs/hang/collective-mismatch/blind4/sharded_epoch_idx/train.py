import torch
import torch.distributed as dist
from torch import nn

from pytorch_trial import PyTorchTrialController, ReduceMetrics
from samplers import BatchSampler, DistributedBatchSampler, RepeatBatchSampler


class OneVarTrial:
    """y = 2x, with a little noise."""

    RECORDS = 56
    BATCH = 8

    def __init__(self):
        generator = torch.Generator().manual_seed(9)
        self.x = torch.randn(self.RECORDS, 1, generator=generator)
        self.y = 2 * self.x + 0.01 * torch.randn(self.RECORDS, 1, generator=generator)

    def build_model(self):
        torch.manual_seed(0)
        return nn.Linear(1, 1)

    def train_batch(self, model, optimizer, indices):
        loss = nn.functional.mse_loss(model(self.x[indices]), self.y[indices])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, slots = dist.get_rank(), dist.get_world_size()
    trial = OneVarTrial()
    sampler = DistributedBatchSampler(
        RepeatBatchSampler(BatchSampler(trial.RECORDS, trial.BATCH)), slots, rank
    )
    metrics = ReduceMetrics()
    PyTorchTrialController(trial, sampler, [metrics]).run(total_batches=20)
    if rank == 0:
        print(metrics.history, flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
