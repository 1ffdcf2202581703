"""URL parameters: those that have no bearing on the content, and those that select it.

Parsing is by ada, the WHATWG parser that Node.js uses (third_party/ada): in C++, because a URL is read for
every result. Wider lists that also drop `source`, `ref` or `cid` make false duplicates, so they are not used.
"""

from __future__ import annotations

IGNORED_PREFIXES = ("utm_", "mtm_", "pk_", "piwik_", "elq", "vero_", "__hs")
IGNORED = (
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "twclid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "li_fat_id",
    "_ga",
    "_gl",
    "epik",
    "s_kwcid",
    "ef_id",
    "srsltid",
    # view switches
    "web",
    "preview",
    "view",
    "action",
    "auth",
    "token",
    "session",
    "wdorigin",
)
SELECTORS = ("id", "itemid", "version", "v", "p", "page", "q")


def for_core() -> dict[str, list[str]]:
    """Options for the native core."""
    return {
        "ignored_prefixes": list(IGNORED_PREFIXES),
        "ignored": list(IGNORED),
        "selectors": list(SELECTORS),
    }
