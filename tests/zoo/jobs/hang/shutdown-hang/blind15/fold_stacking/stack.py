"""Out-of-fold predictions: one process a fold, collected into one table for the second level."""
import argparse
import json
import logging
import multiprocessing as mp

import torch

from learner import fit_fold

log = logging.getLogger("stack")


def worker(fold, folds, epochs, results):
    torch.set_num_threads(1)
    rows, scores, accuracy = fit_fold(fold, folds, epochs)
    results.put({"fold": fold, "rows": rows, "scores": scores, "accuracy": accuracy})
    print(f"fold {fold}: accuracy {accuracy:.3f}", flush=True)


def cross_validate(folds, epochs):
    ctx = mp.get_context("spawn")
    results = ctx.Queue()
    crew = [ctx.Process(target=worker, args=(fold, folds, epochs, results)) for fold in range(folds)]
    for process in crew:
        process.start()
    for process in crew:
        process.join()
    table = {}
    for _ in crew:
        part = results.get()
        table.update(zip(part["rows"], part["scores"]))
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out", default="oof.json")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    oof = cross_validate(args.folds, args.epochs)
    with open(args.out, "w") as f:
        json.dump(oof, f)
    log.info("%d predictions", len(oof))
