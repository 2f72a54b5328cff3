-- For lists by the time of the end. Written once, when a session ends.
CREATE INDEX sessions_finished_idx ON sessions (organization_id, finished_at, created_at) INCLUDE (id, user_name)
  WHERE finished_at IS NOT NULL;

-- With the id, which decides between sessions of one moment, a page needs no sort. They get their names when the old ones
-- go, in a migration of its own: reads wait for that, and must not wait for an index to be made.
CREATE INDEX sessions_group_id_idx ON sessions (organization_id, group_id, created_at DESC, id DESC) WHERE group_id IS NOT NULL;
CREATE INDEX sessions_parent_id_idx ON sessions (organization_id, parent_session_id, created_at DESC, id DESC)
  WHERE parent_session_id IS NOT NULL;

-- Definitions and answers that make a row long lie beside it: each step writes a new version of the row, and lists that
-- have to look at rows read fewer pages.
ALTER TABLE sessions SET (toast_tuple_target = 512);
-- An index answers for itself only where the table has been vacuumed. At a million sessions the default waits for 200,000.
ALTER TABLE sessions SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
