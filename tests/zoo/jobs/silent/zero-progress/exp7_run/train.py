import torch.distributed as dist

from engine.state import RunState
from engine.trainer import Trainer


def read_config(path="config.yaml"):
    config = {}
    for line in open(path):
        key, value = line.strip().split(": ")
        try:
            config[key] = float(value) if "." in value else int(value)
        except ValueError:
            config[key] = value
    return config


def main():
    config = read_config()
    dist.init_process_group("gloo")
    state = RunState(config["output"])
    if config["resume"] == "true":
        state.load()
    trainer = Trainer(config, state)
    trainer.train()
    if dist.get_rank() == 0:
        print(f"Training complete. Best loss {state.best:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
