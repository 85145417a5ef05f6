"""What users call: validate, call, store."""
