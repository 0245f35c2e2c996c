import gc
import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from voices.encoder import Encoder
from voices.triplets import batch_all_triplets
from voices.utterances import SpeakerBatches, Utterances


@torch.no_grad()
def verification(model, test):
    """Part of utterances whose nearest other utterance is of the same speaker."""
    e = model(test.x)
    d = torch.cdist(e, e).fill_diagonal_(float("inf"))
    speaker = torch.from_numpy(test.speaker)
    return (speaker[d.argmin(1)] == speaker).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--margin", type=float, default=0.2)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(6)
    train, test = Utterances(80, 20, seed=1), Utterances(30, 10, seed=2)
    sampler = SpeakerBatches(train.speaker, 12, 4, args.batches, dist.get_rank(), seed=3)
    loader = DataLoader(train, batch_sampler=sampler)
    model = DistributedDataParallel(Encoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total, quiet = 0.0, 0
        for x, speaker in loader:
            loss, active = batch_all_triplets(model(x), speaker, args.margin)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            quiet += active == 0
        if dist.get_rank() == 0:
            score = verification(model.module, test)
            print(f"epoch {epoch} loss {total / len(loader):.4f} batches without violation {quiet} verification {score:.3f}", flush=True)
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
