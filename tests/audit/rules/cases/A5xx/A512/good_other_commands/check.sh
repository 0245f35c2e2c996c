#!/bin/bash
axolotl agent-docs | grep -q "Fine-tuning framework"
axolotl train config.yaml
