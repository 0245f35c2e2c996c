"""Trains each depth of the encoder in a process of its own and leaves a table; a third of them may fail."""
import csv
import dataclasses
import multiprocessing as mp
import time

from fit import DEPTHS, fit


@dataclasses.dataclass
class Row:
    name: str
    seconds: float
    status: int


def one(name, context):
    began = time.perf_counter()
    worker = context.Process(target=fit, args=(name, 8), name=name)
    worker.start()
    worker.join()
    return Row(name, round(time.perf_counter() - began, 2), worker.exitcode)


def main():
    context = mp.get_context("spawn")
    rows = [one(name, context) for name in DEPTHS]
    with open("ablation.csv", "w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=["name", "seconds", "status"])
        table.writeheader()
        for row in rows:
            table.writerow(dataclasses.asdict(row))
    failed = sum(row.status != 0 for row in rows)
    print(f"{len(rows)} rows in ablation.csv, {failed} failed")
    if failed * 3 > len(rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
