// Opened from disk, pages cannot fetch each other, so results of a search have no excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
