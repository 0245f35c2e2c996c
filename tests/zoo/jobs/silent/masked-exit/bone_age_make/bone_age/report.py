import json
import pathlib
import sys

rows = [json.loads(p.read_text()) for p in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))]
print("results:", rows)
