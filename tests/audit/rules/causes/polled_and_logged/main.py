import argparse

from launch import run_training

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnodes", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--data", default="data.jsonl")
    run_training(parser.parse_args())
    print("done")
