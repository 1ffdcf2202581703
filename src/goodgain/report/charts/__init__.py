"""One module for each kind of chart: functions that make a Chart of a result."""
