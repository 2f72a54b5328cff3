-- A migration of its own: while an index is built, nothing else must be locked.
CREATE INDEX sessions_purge_idx ON sessions (finished_at)
  WHERE lasting_request IS NOT NULL AND purged_at IS NULL AND finished_at IS NOT NULL;
