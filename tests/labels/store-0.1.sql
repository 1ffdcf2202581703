BEGIN TRANSACTION;
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
INSERT INTO "asked" VALUES(1,1,'q0','d0','87c248a0f4d76223fdac936481d9b4ce72529fdd',0,1);
INSERT INTO "asked" VALUES(2,1,'q0','d0','51c88a06376b5da7f0810c5257698d5223ecbcfd',1,1);
INSERT INTO "asked" VALUES(3,1,'q1','d1','6b9945a11519946b5e7d535a5e0916dfc23a32d1',0,2);
INSERT INTO "asked" VALUES(4,1,'q1','d1','29e42a20ecf56927e04c9211078682d8a6acf184',1,2);
INSERT INTO "asked" VALUES(5,1,'q0','d2','35dccd29278f553b81095a408479ab1c1379f8ec',0,1);
INSERT INTO "asked" VALUES(6,1,'q0','d2','fb0f42c59f43f1f82e217deca1c32f5ee4d14ea9',1,1);
INSERT INTO "asked" VALUES(7,1,'q1','d3','64494f27add9027d226a3f23cd38525ab2fdb756',0,2);
INSERT INTO "asked" VALUES(8,1,'q1','d3','353634afea5e1837bec8b3d5dffc24cb5dd5f93e',1,2);
INSERT INTO "asked" VALUES(9,1,'q0','d4','cad4c3fe2316fec8f6332b7af3a5941b0d1dc218',0,1);
INSERT INTO "asked" VALUES(10,1,'q0','d4','5f63baf543141bbac79f8e408ddc000bfe253932',1,1);
INSERT INTO "asked" VALUES(11,1,'q0','goodgain-canary:stuffing','cae0b0af26f7abf87a92320a3b924ff306aa207e',0,1);
INSERT INTO "asked" VALUES(12,1,'q0','goodgain-canary:stuffing','364604e46fd3dc87618fe48112fa592e8cabaef4',1,1);
INSERT INTO "asked" VALUES(13,1,'q0','goodgain-canary:injection','397e261e3e401529c59be7ec021c27f6723bdb31',0,1);
INSERT INTO "asked" VALUES(14,1,'q0','goodgain-canary:injection','3fce8202fb736b7f4552bc2a4cb079c1b1ca3d9d',1,1);
INSERT INTO "asked" VALUES(15,1,'q0','goodgain-canary:praise','e819c956198e50ce86428cf138dc3d5fce814cd1',0,1);
INSERT INTO "asked" VALUES(16,1,'q0','goodgain-canary:praise','aa6b1475dda00754558544233b010a898a80ce7f',1,1);
CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
);
INSERT INTO "questions" VALUES(1,'question 0');
INSERT INTO "questions" VALUES(2,'question 1');
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
INSERT INTO "replies" VALUES(1,'cad4c3fe2316fec8f6332b7af3a5941b0d1dc218',1,0,'no_text',NULL,'the document has no text','',0,0,NULL,0.0,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(2,'5f63baf543141bbac79f8e408ddc000bfe253932',1,1,'no_text',NULL,'the document has no text','',0,0,NULL,0.0,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(3,'353634afea5e1837bec8b3d5dffc24cb5dd5f93e',1,1,'refused',NULL,'the judge gave no gain','',0,0,NULL,5.40802999921652371995e-04,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(4,'6b9945a11519946b5e7d535a5e0916dfc23a32d1',1,0,'ok',1.0,'as numbered','{"gain": 1, "reason": "as numbered"}',10,2,NULL,1.14319999966028262861e-04,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(5,'51c88a06376b5da7f0810c5257698d5223ecbcfd',1,1,'ok',0.0,'as numbered','{"gain": 0, "reason": "as numbered"}',10,2,NULL,9.45900001170230098068e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(6,'35dccd29278f553b81095a408479ab1c1379f8ec',1,0,'ok',2.0,'as numbered','{"gain": 2, "reason": "as numbered"}',10,2,NULL,9.53009998738707508891e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(7,'fb0f42c59f43f1f82e217deca1c32f5ee4d14ea9',1,1,'ok',2.0,'as numbered','{"gain": 2, "reason": "as numbered"}',10,2,NULL,0.000135871000111365,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(8,'cae0b0af26f7abf87a92320a3b924ff306aa207e',1,0,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,8.40950001474993769079e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(9,'e819c956198e50ce86428cf138dc3d5fce814cd1',1,0,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,1.02423000043927459046e-04,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(10,'87c248a0f4d76223fdac936481d9b4ce72529fdd',1,0,'ok',0.0,'as numbered','{"gain": 0, "reason": "as numbered"}',10,2,NULL,1.04865999901448958553e-04,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(11,'3fce8202fb736b7f4552bc2a4cb079c1b1ca3d9d',1,1,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,7.83169998612720519304e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(12,'29e42a20ecf56927e04c9211078682d8a6acf184',1,1,'ok',1.0,'as numbered','{"gain": 1, "reason": "as numbered"}',10,2,NULL,8.63989998833858408033e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(13,'64494f27add9027d226a3f23cd38525ab2fdb756',1,0,'refused',NULL,'the judge gave no gain','',0,0,NULL,7.74650000039400765672e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(14,'397e261e3e401529c59be7ec021c27f6723bdb31',1,0,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,7.88579998243221780285e-05,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(15,'364604e46fd3dc87618fe48112fa592e8cabaef4',1,1,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,1.00239000175861292518e-04,NULL,'2026-11-15T18:26:31Z');
INSERT INTO "replies" VALUES(16,'aa6b1475dda00754558544233b010a898a80ce7f',1,1,'ok',4.0,'as numbered','{"gain": 4, "reason": "as numbered"}',10,2,NULL,2.4894099999528407352e-03,NULL,'2026-11-15T18:26:31Z');
CREATE TABLE settings (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  prompt TEXT NOT NULL,
  model TEXT NOT NULL,
  parameters TEXT NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL
);
INSERT INTO "settings" VALUES(1,'b4390db707c221f40f8f6dbeae578bac8e6b5be6','gain-0-4@1ca5c9f109ba','counting','{"temperature": 0}',0,4);
CREATE INDEX asked_key ON asked (key);
CREATE UNIQUE INDEX replies_one_gain ON replies (key) WHERE status = 'ok';
CREATE INDEX replies_key ON replies (key, id);
CREATE TRIGGER replies_keep BEFORE UPDATE ON replies BEGIN SELECT RAISE (ABORT, 'replies are append-only'); END;
CREATE TRIGGER replies_stay BEFORE DELETE ON replies BEGIN SELECT RAISE (ABORT, 'replies are append-only'); END;
COMMIT;
