-- Ephemeral sessions: what remains of the request when the content is removed, written with the session, so that nothing
-- has to be read for it. Null: nothing is removed. The moment follows from the end, by the index: no statement that ends or
-- restarts a session can forget it, and the table need not be written anew for a column that says it.
ALTER TABLE sessions
  ADD COLUMN lasting_request json,
  ADD COLUMN purged_at timestamptz;
