import argparse

from accelerate import Accelerator
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--out", required=True)
args = parser.parse_args()
accelerator = Accelerator()
model = accelerator.prepare(AutoModelForCausalLM.from_pretrained(args.model))
