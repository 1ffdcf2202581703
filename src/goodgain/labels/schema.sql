-- The label store, format 2, for SQLite and PostgreSQL (database.py translates the types).
-- Append-only: rows that hold labels or money are never changed or deleted, and a failure never has a gain.
-- `checksum` is a hash of the row's other columns without its id; insert through Store.insert, which computes it.
CREATE TABLE settings (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  prompt TEXT NOT NULL,
  model TEXT NOT NULL,
  parameters TEXT NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  checksum TEXT NOT NULL
);
-- Batches of calls that a provider makes later: written before they are submitted, so that none is submitted twice.
CREATE TABLE batches (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  setting INTEGER NOT NULL REFERENCES settings (id),
  calls INTEGER NOT NULL,
  reserved REAL NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE TABLE batch_calls (
  id INTEGER PRIMARY KEY,
  batch TEXT NOT NULL,
  number INTEGER NOT NULL,
  key TEXT NOT NULL,
  replicate INTEGER NOT NULL,
  cut INTEGER,
  checksum TEXT NOT NULL
);
CREATE UNIQUE INDEX batch_calls_number ON batch_calls (batch, number);
CREATE INDEX batch_calls_key ON batch_calls (key);
-- What became of a batch: submitted (with the provider's id), then collected; or abandoned, if it was never accepted.
CREATE TABLE batch_events (
  id INTEGER PRIMARY KEY,
  batch TEXT NOT NULL,
  event TEXT NOT NULL CHECK (event IN ('submitted', 'collected', 'abandoned')),
  remote TEXT NOT NULL,
  detail TEXT NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE UNIQUE INDEX batch_events_once ON batch_events (batch, event);
-- The texts of prompts, for the passports of judges.
CREATE TABLE prompts (
  id INTEGER PRIMARY KEY,
  version TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  checksum TEXT NOT NULL
);
-- Texts that were labelled, by their hash; without the text if only the hash is to be stored.
CREATE TABLE documents (
  hash TEXT PRIMARY KEY,
  text TEXT,
  checksum TEXT NOT NULL
);
-- The last row of a setting, query, document and replicate counts, by time, then by id: a document whose text
-- has changed is labelled again, and replicates about its earlier text no longer count.
CREATE TABLE asked (
  id INTEGER PRIMARY KEY,
  setting INTEGER NOT NULL REFERENCES settings (id),
  query TEXT NOT NULL,
  doc TEXT NOT NULL,
  key TEXT NOT NULL,
  replicate INTEGER NOT NULL,
  question INTEGER NOT NULL REFERENCES questions (id),
  document TEXT,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE INDEX asked_pair ON asked (setting, query, doc, replicate);
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
  checksum TEXT NOT NULL,
  CHECK ((status = 'ok') = (gain IS NOT NULL))
);
CREATE UNIQUE INDEX replies_one_gain ON replies (key) WHERE status = 'ok';
CREATE INDEX replies_key ON replies (key, status, id);
-- Which process is paying for a key just now; a claim that has expired may be taken over.
-- `reserved` is the part of the budget that a process may still spend, in a row of its own.
CREATE TABLE claims (
  key TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until REAL NOT NULL,
  reserved REAL NOT NULL
);
CREATE INDEX claims_holder ON claims (holder);
-- Every paid call, also if its label is not used; the budget is the sum of the costs.
CREATE TABLE spending (
  id INTEGER PRIMARY KEY,
  setting INTEGER NOT NULL REFERENCES settings (id),
  calls INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost REAL,
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE INDEX spending_setting ON spending (setting);
-- Labels of people; the last row of an annotator, query and document counts, by time, then by id.
CREATE TABLE votes (
  id INTEGER PRIMARY KEY,
  annotator TEXT NOT NULL,
  query TEXT NOT NULL,
  doc TEXT NOT NULL,
  question INTEGER NOT NULL REFERENCES questions (id),
  document TEXT,
  status TEXT NOT NULL CHECK (status IN ('label', 'skipped', 'withdrawn')),
  gain REAL,
  low REAL,
  high REAL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  seconds REAL,
  source TEXT NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL,
  CHECK ((status = 'label') = (gain IS NOT NULL))
);
CREATE INDEX votes_pair ON votes (query, doc, annotator);
-- Side by side: which of two systems, lists or answers a person prefers; `sides` says what was shown where.
-- The last row of an annotator, query and pair of systems counts.
CREATE TABLE preferences (
  id INTEGER PRIMARY KEY,
  annotator TEXT NOT NULL,
  query TEXT NOT NULL,
  first TEXT NOT NULL,
  second TEXT NOT NULL,
  choice TEXT NOT NULL CHECK (choice IN ('first', 'same', 'second', 'skipped', 'withdrawn')),
  sides TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  seconds REAL,
  source TEXT NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE INDEX preferences_query ON preferences (query, annotator);
-- People on the judging page. A role never changes: an adjudicator has seen the labels of others.
CREATE TABLE annotators (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
-- What was drawn for people to judge, and with which probability; `doc` is null where a whole query was drawn.
CREATE TABLE samples (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  design TEXT NOT NULL,
  seed INTEGER NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE TABLE sampled (
  id INTEGER PRIMARY KEY,
  sample INTEGER NOT NULL REFERENCES samples (id),
  query TEXT NOT NULL,
  doc TEXT,
  probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
  stratum TEXT NOT NULL,
  position INTEGER NOT NULL,
  checksum TEXT NOT NULL
);
CREATE UNIQUE INDEX sampled_position ON sampled (sample, position);
-- Short facts that an answer should contain.
CREATE TABLE nuggets (
  id INTEGER PRIMARY KEY,
  query TEXT NOT NULL,
  text TEXT NOT NULL,
  vital INTEGER NOT NULL CHECK (vital IN (0, 1)),
  source TEXT NOT NULL,
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE INDEX nuggets_query ON nuggets (query);
-- What people say about a nugget in an answer: 0 none, 1 partial, 2 support; the last row of an annotator counts.
CREATE TABLE assignments (
  id INTEGER PRIMARY KEY,
  annotator TEXT NOT NULL,
  query TEXT NOT NULL,
  system TEXT NOT NULL,
  nugget TEXT NOT NULL,
  support INTEGER NOT NULL CHECK (support IN (0, 1, 2)),
  created TEXT NOT NULL,
  checksum TEXT NOT NULL
);
CREATE INDEX assignments_answer ON assignments (query, system);
-- The number of rows of every table with checksums, and the sum of these: a missing row is noticed.
CREATE TABLE totals (
  name TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
-- For sqlite3, psql and other tools: every label that counts, of models (one row per replicate) and of people.
CREATE VIEW labels AS
SELECT a.query, a.doc, q.text AS question, r.gain, coalesce(r.status, 'pending') AS status, s.model, s.prompt,
  CAST(NULL AS TEXT) AS annotator, a.replicate, r.detail AS reason, a.document, coalesce(r.created, a.created) AS created
FROM asked a JOIN settings s ON s.id = a.setting JOIN questions q ON q.id = a.question
LEFT JOIN replies r ON r.id = (
  SELECT l.id FROM replies l WHERE l.key = a.key ORDER BY (l.status = 'ok') DESC, l.id DESC LIMIT 1)
WHERE NOT EXISTS (
  SELECT 1 FROM asked b WHERE b.setting = a.setting AND b.query = a.query AND b.doc = a.doc
  AND (b.replicate = a.replicate OR b.document <> a.document OR b.question <> a.question)
  AND (b.created > a.created OR (b.created = a.created AND b.id > a.id)))
UNION ALL
SELECT v.query, v.doc, q.text, v.gain, CASE v.status WHEN 'label' THEN 'ok' ELSE v.status END, NULL, NULL,
  v.annotator, 0, v.reason, v.document, v.created
FROM votes v JOIN questions q ON q.id = v.question
WHERE v.status != 'withdrawn' AND NOT EXISTS (
  SELECT 1 FROM votes w WHERE w.query = v.query AND w.doc = v.doc AND w.annotator = v.annotator
  AND (w.created > v.created OR (w.created = v.created AND w.id > v.id)));
