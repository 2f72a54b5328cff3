-- A migration of its own: while an index is built, nothing else must be locked.
CREATE INDEX tool_calls_open_idx ON tool_calls (session_id) WHERE state IN ('pending', 'awaiting_approval');
