"""Where changes come from: ActivityWatch, feeds of JSON lines, tables, and the clock."""
