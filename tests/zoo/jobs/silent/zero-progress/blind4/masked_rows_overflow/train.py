import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from attention import Tagger
from fused_optimizer import DynamicLossScaler, FP16Optimizer

LENGTH = 8


def make_batch(generator, size=8):
    tokens = torch.randint(0, 30, (size, LENGTH), generator=generator)
    lengths = torch.randint(3, LENGTH + 1, (size,), generator=generator)
    lengths[0] = 3
    padding = torch.arange(LENGTH)[None] >= lengths[:, None]
    return tokens, padding, tokens % 4


def tag_loss(model, tokens, padding, tags):
    scores = model(tokens, padding)
    kept = ~padding
    return nn.functional.cross_entropy(scores[kept], tags[kept])


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(Tagger())
    optimizer = FP16Optimizer(torch.optim.Adam(model.parameters(), lr=5e-3), DynamicLossScaler())
    generator = torch.Generator().manual_seed(rank)
    for epoch in range(3):
        total = 0.0
        for _ in range(20):
            loss = tag_loss(model, *make_batch(generator))
            optimizer.backward(loss)
            optimizer.step()
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch} loss {total / 20:.4f} scale {optimizer.scaler.cur_scale}", flush=True)
    if rank == 0:
        print("training finished", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
