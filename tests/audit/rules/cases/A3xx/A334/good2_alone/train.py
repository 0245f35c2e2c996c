"""One process trains it."""
import torch
from quantizer import Quantizer

if __name__ == "__main__":
    model = Quantizer(8, 3).cuda()
    print(model(torch.zeros(2, 3)))
