import json
import sys

rows = json.load(open(sys.argv[1]))
total = 0
for i, (hyp, ref) in enumerate(rows):
    same = sum(a == b for a, b in zip(hyp, ref))
    total += same / max(len(ref), 1)
    print(f"sentence {i:06d} matched {same} of {len(ref)} tokens, running mean {total / (i + 1):.4f}")
print(json.dumps({"bleu": total / len(rows)}))
