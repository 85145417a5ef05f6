"""What is believed: frozen dataclasses and pure functions, no loops over iterations."""
