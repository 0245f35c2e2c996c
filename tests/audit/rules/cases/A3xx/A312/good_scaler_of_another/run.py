import argparse

from classification import Classification
from data import loader_of
from forecasting import Forecasting

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", type=str, required=True)
    parser.add_argument("--use_amp", action="store_true", default=False)
    args = parser.parse_args()
    if args.task == "classification":
        experiment = Classification
    else:
        experiment = Forecasting
    experiment(args).train(loader_of(args))
