"""Writes case_folding.inc: full Unicode case folding, as the running Python knows it.

Run it again for a newer Unicode: python src/core/case_folding.py > src/core/case_folding.inc
"""

import sys
import unicodedata

print(
    f"// Made by case_folding.py from Unicode {unicodedata.unidata_version}; ASCII is folded in code."
)
entries = [
    f'{{0x{c:X}, "{"".join(f"{chr(92)}x{b:02x}" for b in chr(c).casefold().encode())}"}}'
    for c in range(0x80, sys.maxunicode + 1)
    if not 0xD800 <= c < 0xE000 and chr(c).casefold() != chr(c)
]
for i in range(0, len(entries), 6):
    print(", ".join(entries[i : i + 6]) + ",")
