import argparse
import csv
import os
import random

CROPS = ["barley", "maize", "oat", "rye", "wheat"]


def prepare(workdir):
    chooser = random.Random(4)
    with open(os.path.join(workdir, "plots.csv"), "w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["ndvi", "rain", "altitude", "crop"])
        for number in range(400):
            crop = chooser.choice(CROPS) if number != 291 else "spelt"
            writer.writerow([f"{chooser.random():.4f}" for _ in range(3)] + [crop])


def export(workdir):
    os.replace(os.path.join(workdir, "model.pt"), os.path.join(workdir, "release.pt"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("stage", choices=["prepare", "export"])
    parser.add_argument("--workdir", required=True)
    options = parser.parse_args()
    {"prepare": prepare, "export": export}[options.stage](options.workdir)
