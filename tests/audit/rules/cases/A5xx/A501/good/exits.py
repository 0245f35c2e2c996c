import argparse
import os
import sys

import torch


def forked(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dry-run", action="store_true")
    if parser.parse_args().dry_run:
        print("one step would be made")
        sys.exit(0)
    model = torch.nn.Linear(2, 2)
    try:
        model(torch.randn(4, 2)).sum().backward()
    except KeyboardInterrupt:
        print("stopped by hand")
        sys.exit(0)
    except Exception as error:
        print(f"training failed: {error}")
        sys.exit(1)
    finally:
        print("closing")
    sys.exit(0)


def guarded(train):
    try:
        train()
    except FileNotFoundError:
        print("nothing to resume from")
        sys.exit(0)
    except Exception:
        if os.environ.get("DEBUG"):
            raise
        os._exit(1)


if __name__ == "__main__":
    main()
