"""Facts of this host: devices, memory, disks, limits, network, kernel log."""
