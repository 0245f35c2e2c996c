import json
import sys

import numpy as np


def main(split):
    with open(f"{split}.txt") as lines:
        rows = [line.split() for line in lines]
    numbers = {}
    for number, word in enumerate({word for row in rows for word in row}):
        numbers[word] = number
    np.save(f"{split}.npy", np.array([numbers[word] for row in rows for word in row]))
    with open(f"{split}.json", "w") as out:
        json.dump(numbers, out)


main(sys.argv[1])
