import torch


def scores(model, positive, negative, x):
    nodes = torch.unique(torch.cat([positive, negative]))
    model.prepare(x[nodes])
    out = model(torch.cat([positive, negative]))
    return out[: len(positive)], out[len(positive) :]


def best(scores, kept, others):
    values = torch.cat([kept, others]).unique()
    order = torch.randperm(len(values))
    return values[:10], order[: len(kept)]


def single(seeds, x):
    nodes = seeds.unique()
    return x[nodes][: len(nodes)]


def train_part(dataset, train_ids, val_ids):
    everything = sorted(train_ids + val_ids)
    print(len(everything), everything[:5])
    return dataset[: len(train_ids)]


def precision_at_positives(positive, negative):
    ranked = torch.cat([positive, negative]).sort(descending=True).values
    best = sorted([*positive, *negative], reverse=True)
    return ranked[: len(positive)], best[: len(positive)]
