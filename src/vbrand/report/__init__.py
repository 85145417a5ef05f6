"""Facts -> figures -> one HTML file that works offline."""
