"""What became of a failure's exit code: read, tested, dropped; by shells and by Python parents."""
