import csv
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from statistics import mean


def cost(row):
    return row["region"], float(row["amount"]) * 1.19


def main(path):
    with open(path) as f:
        rows = list(csv.DictReader(f))
    with ProcessPoolExecutor(2) as pool:
        costs = list(pool.map(cost, rows))
    print(Counter(region for region, _ in costs))
    print(f"mean {mean(value for _, value in costs):.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
