-- For lists by status, in their order. What else lists are often narrowed by is in the index, so that it is looked at without
-- the row. Writes wait while an index is made, a few seconds at a million sessions: so the large ones are migrations of
-- their own, and writes go on in between.
CREATE INDEX sessions_organization_id_status_created_at_id_idx
  ON sessions (organization_id, status, created_at DESC, id DESC) INCLUDE (user_name, agent_name);
