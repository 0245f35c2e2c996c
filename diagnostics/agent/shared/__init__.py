"""The tables and the redaction that the agent writes with and the doctor reads with: all it imports of the agent."""
