import json
import sys

items = json.load(open(sys.argv[1]))
total = 0.0
for item in items:
    total += item["score"]
    print(f"item {item['id']:06d} score {item['score']:+.5f}")
print(f"mean {total / len(items):+.4f} over {len(items)} items")
