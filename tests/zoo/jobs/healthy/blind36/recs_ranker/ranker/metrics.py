import torch


def average_precision(scores, relevant):
    order = scores.argsort(descending=True)
    hits = relevant[order].double()
    precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum().clamp(min=1))


def bootstrap(scores, relevant, rounds, seed=0):
    """Confidence interval of the average precision."""
    g = torch.Generator().manual_seed(seed)
    values = []
    for _ in range(rounds):
        index = torch.randint(0, len(scores), (len(scores),), generator=g)
        values.append(average_precision(scores[index], relevant[index]))
    values = torch.tensor(values)
    return values.quantile(0.05).item(), values.quantile(0.95).item()
