import json

import torch
import torch.distributed as dist

from evaluator import simple_evaluate
from scorer import Scorer
from tasks.base import CountingTask


def cli_evaluate():
    dist.init_process_group("gloo")
    torch.manual_seed(1234)
    scorer = Scorer()
    for parameter in scorer.parameters():
        dist.broadcast(parameter.data, src=0)
    results = simple_evaluate(scorer, [CountingTask()])
    if dist.get_rank() == 0:
        print(json.dumps(results, indent=2))
    dist.destroy_process_group()


if __name__ == "__main__":
    cli_evaluate()
