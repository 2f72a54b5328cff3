-- Large results are stored as they are: compressing 5 MB takes the database three times as long as writing them. Only what
-- is longer than 2 KB was ever compressed. Rows from before stay as they are, and are read like the others.
ALTER TABLE events ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE events ALTER COLUMN internal SET STORAGE EXTERNAL;
