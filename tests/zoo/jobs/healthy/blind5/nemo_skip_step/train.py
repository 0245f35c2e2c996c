import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from actions import LossGuard
from speech import KeywordNet, Utterances


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    dataset = Utterances()
    sampler = DistributedSampler(dataset, seed=4)
    loader = DataLoader(dataset, batch_size=5, sampler=sampler)
    model = DistributedDataParallel(KeywordNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=60)
    guard = LossGuard()
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for frames, voiced, words in loader:
            loss = nn.functional.cross_entropy(model(frames, voiced), words)
            if guard.should_skip(loss):
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f}, {guard.total} batches left out", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
