import argparse


def read():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnodes", type=int, default=1, help="for the name of the run")
    parser.add_argument("--num-processes", type=int, default=4, help="of the tokenizer")
    return parser.parse_args()
