import json
import sys
from pathlib import Path

import torch


def main(run):
    run = Path(run)
    state = torch.load(run / "final.pt", map_location="cpu")
    bad = [k for k, v in state.items() if v.is_floating_point() and not v.isfinite().all()]
    if bad:
        raise SystemExit(f"not finite: {bad}")
    (run / "ok.json").write_text(json.dumps({"tensors": len(state)}))


if __name__ == "__main__":
    main(sys.argv[1])
