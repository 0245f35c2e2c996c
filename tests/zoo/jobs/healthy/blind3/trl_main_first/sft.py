import os
import tempfile

import torch
import torch.distributed as dist

from dataset import CachedMap, examples, tokenize
from sft_trainer import SFTTrainer
from state import PartialState

PREPARATION_SECONDS = 12


def main():
    torch.set_num_threads(1)
    state = PartialState()
    folder = os.path.join(tempfile.gettempdir(), f"sft-{os.environ['TORCHELASTIC_RUN_ID']}")
    mapper = CachedMap(folder)
    with state.main_process_first():
        tokens, origin = mapper(examples(400), tokenize, PREPARATION_SECONDS)
    print(f"rank {state.process_index}: {len(tokens)} rows, {origin}", flush=True)
    SFTTrainer(state, tokens).train(epochs=3)
    state.wait_for_everyone()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
