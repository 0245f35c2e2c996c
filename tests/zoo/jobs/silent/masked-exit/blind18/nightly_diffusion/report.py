import argparse
import re

ap = argparse.ArgumentParser()
ap.add_argument("--log", required=True)
a = ap.parse_args()
vals = re.findall(r"flow loss ([0-9.]+)", open(a.log).read())
print("epochs logged:", len(vals), "best:", min(vals, default="n/a"))
