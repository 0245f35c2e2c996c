import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP

from scoring import ExternalScorer
from translate import WORDS, Seq

EVAL_SIZES = {20: 100, 40: 400, 60: 4000}


def evaluate(model, step, scorer):
    if dist.get_rank() == 0:
        print(f"step {step}: BLEU {scorer(model.module.sample(EVAL_SIZES[step]))}", flush=True)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(Seq())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scorer = ExternalScorer()
    for step in range(1, 61):
        ids = torch.randint(len(WORDS), (8, 12))
        loss = cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in EVAL_SIZES:
            evaluate(model, step, scorer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
