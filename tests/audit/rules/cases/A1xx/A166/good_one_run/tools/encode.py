import json

import numpy as np


def main():
    rows = [line.split() for line in open("all.txt")]
    numbers = {word: number for number, word in enumerate({word for row in rows for word in row})}
    np.save("all.npy", np.array([numbers[word] for row in rows for word in row]))
    with open("words.json", "w") as out:
        json.dump(numbers, out)


main()
