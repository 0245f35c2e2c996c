"""loguru's catch writes the error down and returns."""
import torch
from loguru import logger


@logger.catch
def main():
    torch.nn.Linear(4, 1)(torch.randn(8, 4)).mean().backward()


main()
