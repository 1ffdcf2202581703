"""Input and output: files, columns, names, conversion, atomic writes."""
