"""Tables in, model files out."""
