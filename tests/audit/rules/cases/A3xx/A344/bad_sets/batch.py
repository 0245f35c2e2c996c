import torch


def embed(table, targets, context):
    ids = torch.tensor(sorted(set(targets) | set(context)))
    return table(ids)[: len(targets)]


def of_list(table, targets, context):
    ids = list(set(targets + context))
    rows = table[ids]
    return rows[: len(targets)]


def updated(table, targets, contexts):
    seen = set(targets)
    for context in contexts:
        seen.update(context)
    ids = list(seen)
    return table[ids][: len(targets)]
