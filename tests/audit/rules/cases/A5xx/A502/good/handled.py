import logging
import sys

import torch

log = logging.getLogger(__name__)

try:
    import wandb
except ImportError:
    wandb = None


def step(model, batch, optimizer):
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()


def optional_logging(value):
    try:
        wandb.log({"loss": value})
    except Exception as error:
        log.warning("not logged: %s", error)


def with_retry(model, batch, optimizer, attempts=3):
    for attempt in range(attempts):
        try:
            return step(model, batch, optimizer)
        except RuntimeError as error:
            log.warning("attempt %d: %s", attempt, error)
            if attempt + 1 == attempts:
                raise


def smaller_batch(model, batch, optimizer):
    try:
        step(model, batch, optimizer)
    except RuntimeError:
        torch.cuda.empty_cache()
        for half in batch.chunk(2):
            step(model, half, optimizer)


def collected(models, batch, optimizer):
    errors = []
    for model in models:
        try:
            step(model, batch, optimizer)
        except Exception as error:
            errors.append(error)
    return errors


def resumed(path):
    try:
        return torch.load(path)
    except FileNotFoundError:
        return None


def main():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        step(model, torch.randn(4, 2), optimizer)
    except KeyboardInterrupt:
        print("stopped by hand")
    except Exception as error:
        log.exception("training failed: %s", error)
        sys.exit(1)


if __name__ == "__main__":
    main()
