import torch
import torch.distributed as dist

from automl.plan import Plan
from automl.report import write_report
from automl.trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    plan = Plan(epochs=8, stages={0: "warmup", 2: "main", 5: "anneal"})
    history = Trainer(plan).fit()
    if dist.get_rank() == 0:
        write_report(history)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
