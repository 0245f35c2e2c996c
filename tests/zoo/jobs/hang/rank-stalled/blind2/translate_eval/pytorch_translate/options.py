import argparse


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--max-epoch", type=int, default=3)
    p.add_argument("--generate-bleu-eval-interval", type=int, default=1)
    p.add_argument("--nbest-after", type=int, default=1, help="epoch from which all beams are kept")
    p.add_argument("--beam", type=int, default=8)
    p.add_argument("--eval-processes", type=int, default=2)
    p.add_argument("--vocab", type=int, default=50)
    return p.parse_args()
