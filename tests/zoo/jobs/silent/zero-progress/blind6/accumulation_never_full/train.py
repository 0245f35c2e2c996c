"""Few-shot training of a classifier on a handful of labelled texts."""
import torch
import torch.distributed as dist

from fewshot.config import load_config
from fewshot.data import labelled_loader
from fewshot.wrapper import TransformerWrapper


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    config = load_config({"gradient_accumulation_steps": 4})
    wrapper = TransformerWrapper(config)
    loader, sampler = labelled_loader(config)
    result = wrapper.train(loader, sampler)
    if dist.get_rank() == 0:
        print(f"training finished: {result}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
