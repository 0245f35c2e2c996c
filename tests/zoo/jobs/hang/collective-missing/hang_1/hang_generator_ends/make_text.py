import random

words = "the a cat dog sits runs on under mat tree and then it she he sleeps".split()
for shard in range(2):
    rng = random.Random(shard)
    lines = [" ".join(rng.choices(words, k=9)) for _ in range(160)]
    if shard == 1:
        lines[121] = ""
    with open(f"shard{shard}.txt", "w") as f:
        f.write("\n".join(lines) + "\n")
