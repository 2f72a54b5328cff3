-- For lists of a session's calls, in their order. The state is in the index, so that calls of others are passed over there.
CREATE INDEX tool_calls_session_id_step_position_id_idx ON tool_calls (session_id, step, position, id) INCLUDE (state);
