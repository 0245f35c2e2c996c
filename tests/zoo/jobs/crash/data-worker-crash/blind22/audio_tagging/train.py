import argparse
import logging

import torch
from torch.utils.data import DataLoader

from dataset import ClipDataset, collate
from net import Tagger

log = logging.getLogger("audio_tagging")


def parse():
    parser = argparse.ArgumentParser(description="Train the clip tagger")
    parser.add_argument("--manifest", default="manifest.csv")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--max-steps", type=int, default=60)
    parser.add_argument("--num-workers", type=int, default=2)
    return parser.parse_args()


def run(args):
    data = ClipDataset(args.manifest)
    loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=args.num_workers, collate_fn=collate,
                        generator=torch.Generator().manual_seed(5))
    model = Tagger(classes=data.num_classes)
    optim = torch.optim.Adam(model.parameters(), lr=args.lr)
    step = 0
    while step < args.max_steps:
        for wave, label in loader:
            loss = torch.nn.functional.cross_entropy(model(wave), label)
            optim.zero_grad(set_to_none=True)
            loss.backward()
            optim.step()
            step += 1
            if step % 10 == 0:
                log.info("step %d loss %.4f", step, loss.item())
    log.info("finished after %d steps", step)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    run(parse())
