import argparse

import torch

from shards import ShardedEncoder


def topk(index, queries, k):
    best = []
    for chunk in queries.split(256):
        best.append((chunk @ index.t()).topk(k, dim=-1).indices)
    return torch.cat(best)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("corpus")
    ap.add_argument("queries")
    ap.add_argument("--weights", required=True)
    ap.add_argument("--devices", type=int, default=torch.cuda.device_count())
    ap.add_argument("--k", type=int, default=10)
    ap.add_argument("--out", default="neighbours.pt")
    args = ap.parse_args()
    corpus = torch.load(args.corpus, map_location="cpu", weights_only=True)
    queries = torch.load(args.queries, map_location="cpu", weights_only=True)
    encoder = ShardedEncoder(args.weights, args.devices)
    index = encoder.encode(corpus)
    hits = topk(index, encoder.encode(queries), args.k)
    torch.save(hits, args.out)
    print(f"{len(index)} vectors, {len(hits)} queries")


if __name__ == "__main__":
    main()
