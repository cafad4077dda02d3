"""An execution as a value: what robots' monitors, searches, repairs and shields stand on."""
