import sys

import torch

from nets import Net, load_pretrained


def main():
    net = load_pretrained(torch.compile(Net()), sys.argv[1])
    print(net)


if __name__ == "__main__":
    main()
