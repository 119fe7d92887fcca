"""The fault harness: damage, kills, full disks and hostile input, from seeds."""
