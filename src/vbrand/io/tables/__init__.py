"""Tables in: files, data frames and arrays -> rows, or one sentence."""
