-- The contract of a tool: what a call needs later stands on its row, so that nobody has to look at the tool again.
ALTER TABLE sessions
  DROP CONSTRAINT sessions_status_known,
  ADD CONSTRAINT sessions_status_known CHECK (status IN ('queued', 'pending', 'running', 'paused', 'idle',
    'awaiting_tool_results', 'awaiting_approval', 'completed', 'failed', 'timed_out', 'interrupted')) NOT VALID,
  -- The earliest deadline of the calls that wait.
  ADD COLUMN call_deadline_at timestamptz,
  -- The first event of the run: a session that has ended may be started again.
  ADD COLUMN run_index integer NOT NULL DEFAULT 0,
  -- Grows when the tools are replaced, so that a step that was offered others can tell.
  ADD COLUMN tools_version integer NOT NULL DEFAULT 0,
  -- Decisions that count for all calls of a tool, by its name.
  ADD COLUMN remembered_decisions json NOT NULL DEFAULT '{}';

ALTER TABLE tool_calls
  DROP CONSTRAINT tool_calls_state_known,
  ADD CONSTRAINT tool_calls_state_known CHECK (state IN ('awaiting_approval', 'pending', 'answered', 'denied',
    'timed_out', 'withdrawn', 'refused')) NOT VALID,
  ADD COLUMN capability text NOT NULL DEFAULT 'read',
  ADD COLUMN timeout_ms double precision,
  ADD COLUMN on_timeout text NOT NULL DEFAULT 'error',
  ADD COLUMN max_result_tokens integer,
  -- While the call waits for a decision or for its result: when it waits no longer.
  ADD COLUMN deadline_at timestamptz,
  -- Why the call needs approval; null when it needs none.
  ADD COLUMN approval_reason text,
  ADD COLUMN on_approval_timeout text NOT NULL DEFAULT 'deny',
  ADD COLUMN decision text,
  ADD COLUMN decision_hash bytea,
  ADD COLUMN decision_message text,
  ADD COLUMN decided_by text,
  ADD COLUMN decided_at timestamptz,
  -- The arguments that the model gave, when an approval has changed them.
  ADD COLUMN asked_args json,
  -- Who settled the call, and why it came to no result.
  ADD COLUMN settled_by text,
  ADD COLUMN reason text,
  -- Who runs the call, for as long as they say.
  ADD COLUMN claimant text,
  ADD COLUMN claimed_until timestamptz;
