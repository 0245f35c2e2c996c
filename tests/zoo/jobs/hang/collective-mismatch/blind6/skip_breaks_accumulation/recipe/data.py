import torch

IGNORE = -100


def batches(epoch, rank, count=12, length=10):
    """Micro-batches of (tokens, labels); the prompt's part of the labels is ignored."""
    generator = torch.Generator().manual_seed(1000 * epoch + rank)
    for index in range(count):
        tokens = torch.randint(0, 20, (4, length), generator=generator)
        prompt = int(torch.randint(2, 6, (1,), generator=generator))
        if (epoch, rank, index) == (1, 2, 5):
            prompt = length  # four conversations that were cut off before the first answer
        labels = tokens.clone()
        labels[:, :prompt] = IGNORE
        yield tokens, labels
