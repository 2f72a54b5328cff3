-- A migration of its own: while an index is built, nothing else must be locked. For those who serve tools: calls that wait
-- for a result, of all sessions of an organization, by tool and oldest first. Claims are not in it, so that a heartbeat
-- writes no index.
CREATE INDEX tool_calls_feed_idx ON tool_calls (organization_id, tool_name, created_at) WHERE state = 'pending';
