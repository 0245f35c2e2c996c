import torch.distributed as dist

from config import DesLocConfig, RunConfig
from data import SensorStream
from engine import DesLocEngine


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    run_cfg = RunConfig()
    engine = DesLocEngine(run_cfg, DesLocConfig(), rank)
    engine.train(SensorStream(run_cfg, rank))
    dist.barrier()
    if rank == 0:
        print(f"finished after {engine.optimizer.global_step} optimizer steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
