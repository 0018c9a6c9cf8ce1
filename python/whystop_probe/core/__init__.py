"""What every framework needs: the ring and its channel, the governor, the guard, taps, the import hook, the pulse of steps."""
