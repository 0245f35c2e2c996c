import torch

SHARD_SIZES = (14, 6, 9)


def batches(rank, epoch, batch=6, frames=40, symbols=12):
    g = torch.Generator().manual_seed(1000 * epoch + rank)
    codes = torch.randn(symbols, 20, generator=torch.Generator().manual_seed(5))
    for _ in range(SHARD_SIZES[rank]):
        y = torch.randint(1, symbols, (batch, 8), generator=g)
        x = codes[y].repeat_interleave(frames // 8, 1) + 0.5 * torch.randn(batch, frames, 20, generator=g)
        yield x, y, torch.full((batch,), frames), torch.full((batch,), 8)
