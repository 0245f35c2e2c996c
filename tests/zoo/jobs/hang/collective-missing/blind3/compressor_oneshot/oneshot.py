import logging

import torch.distributed as dist

from modeling import calibration_set, load_model
from modifiers import QuantizationModifier, run_pipeline
from recipe import Recipe


def main():
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    recipe = Recipe()
    layers = load_model(recipe)
    modifier = QuantizationModifier(recipe, rank)
    run_pipeline(layers, modifier, calibration_set(recipe, rank))
    dist.barrier()
    if rank == 0:
        print("model is compressed")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
