-- Append-only: replies are never changed or deleted, and a failure never has a gain.
CREATE TABLE settings (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  prompt TEXT NOT NULL,
  model TEXT NOT NULL,
  parameters TEXT NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL
);
CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
);
-- The last row of a query and document counts: a document whose text has changed is labelled again.
CREATE TABLE asked (
  id INTEGER PRIMARY KEY,
  setting INTEGER NOT NULL REFERENCES settings (id),
  query TEXT NOT NULL,
  doc TEXT NOT NULL,
  key TEXT NOT NULL,
  replicate INTEGER NOT NULL,
  question INTEGER NOT NULL REFERENCES questions (id),
  UNIQUE (setting, query, doc, key)
);
CREATE INDEX asked_key ON asked (key);
CREATE TABLE replies (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  setting INTEGER NOT NULL REFERENCES settings (id),
  replicate INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'refused', 'filtered', 'truncated', 'invalid', 'error', 'no_text')),
  gain REAL,
  detail TEXT NOT NULL,
  raw TEXT NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost REAL,
  seconds REAL NOT NULL,
  cut INTEGER,
  created TEXT NOT NULL,
  CHECK ((status = 'ok') = (gain IS NOT NULL))
);
CREATE UNIQUE INDEX replies_one_gain ON replies (key) WHERE status = 'ok';
CREATE INDEX replies_key ON replies (key, id);
CREATE TRIGGER replies_keep BEFORE UPDATE ON replies BEGIN SELECT RAISE (ABORT, 'replies are append-only'); END;
CREATE TRIGGER replies_stay BEFORE DELETE ON replies BEGIN SELECT RAISE (ABORT, 'replies are append-only'); END;
