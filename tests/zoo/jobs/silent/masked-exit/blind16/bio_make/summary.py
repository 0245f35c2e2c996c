import json
import pathlib
import sys

for f in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    print(f.stem, json.loads(f.read_text()))
