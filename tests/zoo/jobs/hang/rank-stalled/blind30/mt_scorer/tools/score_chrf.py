"""chrF of a hypothesis file against a reference file; per-sentence table, corpus score in the last line."""
import argparse
from collections import Counter


def ngrams(text, n):
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


def stats(hyp, ref, order=6):
    rows = []
    for n in range(1, order + 1):
        h, r = ngrams(hyp, n), ngrams(ref, n)
        rows.append((sum((h & r).values()), sum(h.values()), sum(r.values())))
    return rows


def chrf(rows, beta=2.0):
    ps = [m / h for m, h, _ in rows if h]
    rs = [m / r for m, _, r in rows if r]
    if not ps or not rs:
        return 0.0
    p, r = sum(ps) / len(ps), sum(rs) / len(rs)
    return 0.0 if p + r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("hyp")
    ap.add_argument("ref")
    args = ap.parse_args()
    total = None
    with open(args.hyp) as fh, open(args.ref) as fr:
        for i, (h, r) in enumerate(zip(fh, fr)):
            rows = stats(h.rstrip("\n"), r.rstrip("\n"))
            total = rows if total is None else [tuple(a + b for a, b in zip(x, y)) for x, y in zip(total, rows)]
            print(f"{i:06d}\tchrF={100 * chrf(rows):6.2f}\thyp={h.strip()}\tref={r.strip()}")
    print(f"chrF2 = {100 * chrf(total):.2f}")


if __name__ == "__main__":
    main()
