"""Reading: files of every kind, columns by their usual names, anything in memory."""
