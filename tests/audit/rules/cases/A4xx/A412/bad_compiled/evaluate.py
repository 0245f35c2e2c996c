import sys

from nets import Net, load_pretrained


def main():
    net = load_pretrained(Net(), sys.argv[1])
    print(net)


if __name__ == "__main__":
    main()
