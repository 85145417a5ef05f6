"""Tables in: files, data frames and arrays -> rows, or one sentence."""

# the kinds of files that `formats` reads, as users call them: for help and error messages
FORMATS = "CSV, TSV, Excel, ODS, Parquet, Feather"
