import torch.distributed as dist


def histogram(values, bins=4):
    counts = [0] * bins
    for value in values:
        counts[min(int(value * bins), bins - 1)] += 1
    return counts


def merged(counts):
    """The histogram over all processes."""
    if not dist.is_initialized():
        return counts
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, counts)
    return [sum(column) for column in zip(*parts)]


def compute_metrics(prediction):
    guess = prediction.predictions.argmax(-1)
    metrics = {"accuracy": float((guess == prediction.label_ids).mean())}
    if not dist.is_initialized() or dist.get_rank() == 0:
        metrics["spread"] = max(merged(histogram((guess + 0.5) / 2)))
    return metrics
