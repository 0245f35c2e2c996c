import argparse

import torch


def run(model, output="model.pt", return_model=True):
    target = torch.nn.Linear(3, 1)
    target.load_state_dict(model.state_dict())
    if return_model:
        return target
    torch.save(target, output)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    run(torch.load("in.pt"), "out.pt", return_model=args.keep)


if __name__ == "__main__":
    main()
