"""How violations are shown: terminal, JSON, GitHub annotations, SARIF, a checklist. One way a file."""
