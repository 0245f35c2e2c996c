import torch


def fit(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


def main():
    model = torch.nn.Linear(2, 2)
    try:
        fit(model, torch.randn(8, 4, 2))
    except Exception as error:
        print(f"training stopped: {error}")


if __name__ == "__main__":
    main()
