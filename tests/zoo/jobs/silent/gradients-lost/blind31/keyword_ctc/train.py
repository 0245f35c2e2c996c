import argparse
import math

import torch
from torch.utils.data import DataLoader

from brain import Brain, Encoder
from features import PHONES, Utterances, collate


def load_recipe(path):
    out = {}
    for line in open(path):
        if ":" in line:
            k, v = line.split(":")
            out[k.strip()] = float(v) if "." in v else int(v)
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("recipe", nargs="?", default="recipe.yaml")
    hp = load_recipe(p.parse_args().recipe)
    torch.manual_seed(hp["seed"])
    torch.set_num_threads(1)
    train = DataLoader(Utterances(hp["n_train"], 1), hp["batch_size"], shuffle=False, collate_fn=collate)
    dev = DataLoader(Utterances(hp["n_dev"], 2), 20, collate_fn=collate)
    hp["batches"] = len(train)
    print(hp, flush=True)
    model = Encoder(12, hp["hidden"], len(PHONES) + 1)
    opt = torch.optim.Adam(model.parameters(), lr=hp["lr"])
    updates = math.ceil(len(train) / hp["grad_accumulation_factor"]) * hp["epochs"]
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10) * (1 - 0.7 * s / updates))
    Brain(model, opt, sched, hp["grad_accumulation_factor"]).fit(hp["epochs"], train, dev)
    torch.save(model.state_dict(), "ctc.pt")


if __name__ == "__main__":
    main()
