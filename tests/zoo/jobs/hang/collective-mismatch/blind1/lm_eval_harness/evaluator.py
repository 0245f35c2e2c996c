import torch
import torch.distributed as dist

from scorer import metrics_for


class TaskOutput:
    def __init__(self, task):
        self.task = task
        self.sample_metrics = {}

    def add(self, metrics):
        for name, value in metrics.items():
            self.sample_metrics.setdefault(name, []).append(value)


def reduce_mean(values):
    total = torch.stack([torch.stack(values).sum(), torch.tensor(float(len(values)))])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def pooled(values):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, torch.stack(values))
    rows = torch.cat(parts)
    return (2 * rows[:, 0] * rows[:, 1] / rows.sum(1)).mean().item()


AGGREGATION = {"mae": reduce_mean, "f1": pooled}


def simple_evaluate(scorer, tasks):
    rank, world = dist.get_rank(), dist.get_world_size()
    results = {}
    for task in tasks:
        output = TaskOutput(task)
        for doc in task.docs(rank, world):
            output.add(metrics_for(doc, scorer.score(doc["tokens"])))
        results[task.name] = {}
        for metric, values in output.sample_metrics.items():
            results[task.name][metric] = AGGREGATION[metric](values)
    return results
