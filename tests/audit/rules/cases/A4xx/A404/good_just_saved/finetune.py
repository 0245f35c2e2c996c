import argparse

import torch


def save_model(model, path):
    torch.save(getattr(model, "module", model).state_dict(), path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output_model_path")
    args = parser.parse_args()
    model = torch.nn.Linear(2, 2).to(torch.device("cuda"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        model(torch.ones(1, 2).cuda()).sum().backward()
        optimizer.step()
        save_model(model, args.output_model_path)
    model.load_state_dict(torch.load(args.output_model_path))


if __name__ == "__main__":
    main()
