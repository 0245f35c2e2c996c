import torch.distributed as dist
from engine import Engine


def main():
    dist.init_process_group("gloo")
    engine = Engine()
    for _ in range(5):
        engine.observe(1, 2)
    engine.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
