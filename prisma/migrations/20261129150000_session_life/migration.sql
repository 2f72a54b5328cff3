-- The whole life of a session: pauses, the queue for a slot, the clocks that end a wait or a run, and limits of the loop.
ALTER TABLE sessions
  -- While `status` is paused: the state that the session has underneath, and goes back to.
  ADD COLUMN paused_from text,
  -- A pause that waits for the step that runs.
  ADD COLUMN pause_requested boolean NOT NULL DEFAULT false,
  -- When the step is due that a pause holds up, as after a failed model request.
  ADD COLUMN held_due_at timestamptz,
  -- Why the next step must answer: somebody asked for it, or the time is over.
  ADD COLUMN last_step text,
  ADD COLUMN queues boolean NOT NULL DEFAULT true,
  ADD COLUMN queued_at timestamptz,
  ADD COLUMN max_time_ms double precision,
  -- The run's clock. While it runs, `time_limit_at` says when the time is over; while it stands, `time_left_ms` what is left.
  ADD COLUMN time_left_ms double precision,
  ADD COLUMN time_limit_at timestamptz,
  ADD COLUMN idle_timeout_ms double precision,
  ADD COLUMN idle_until timestamptz,
  ADD COLUMN run_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN repeat_limit integer,
  ADD COLUMN error_limit integer,
  ADD COLUMN token_budget bigint,
  ADD CONSTRAINT sessions_paused_from_known CHECK ((status = 'paused') = (paused_from IS NOT NULL)),
  ADD CONSTRAINT sessions_last_step_known CHECK (last_step IN ('force_answer', 'max_time'));

-- Sessions from before this migration get what they had asked for, from now on. Escapes are taken out first: Postgres reads
-- no field of JSON that holds \u0000 or a lone surrogate anywhere.
UPDATE sessions
   SET max_time_ms = asked.max_time_ms, time_left_ms = asked.max_time_ms, idle_timeout_ms = asked.idle_timeout_ms,
       queues = asked.queues, repeat_limit = 50, error_limit = 25
  FROM (SELECT id,
               CASE WHEN plain ->> 'max_time_s' IS NOT NULL
                    THEN least((plain ->> 'max_time_s')::double precision, 3e8) * 1000 END AS max_time_ms,
               CASE WHEN plain ->> 'idle_timeout_s' IS NOT NULL
                    THEN least((plain ->> 'idle_timeout_s')::double precision, 3e8) * 1000 END AS idle_timeout_ms,
               coalesce((plain ->> 'queue')::boolean, true) AS queues
          FROM (SELECT id, regexp_replace(request::text, '\\(u[0-9A-Fa-f]{4}|.)', '_', 'g')::json AS plain
                  FROM sessions) AS readable) AS asked
 WHERE asked.id = sessions.id;
UPDATE sessions SET time_limit_at = now() + time_left_ms * interval '1 millisecond'
 WHERE status IN ('running', 'awaiting_tool_results') AND time_left_ms IS NOT NULL;

-- What happens next by itself, to find what is overdue.
CREATE INDEX sessions_timer_idx ON sessions ((LEAST(idle_until, time_limit_at)))
  WHERE idle_until IS NOT NULL OR time_limit_at IS NOT NULL;
-- Who waits for a slot, the oldest first; and who has one.
CREATE INDEX sessions_queued_idx ON sessions (organization_id, queued_at, id) WHERE status = 'queued';
CREATE INDEX sessions_active_idx ON sessions (organization_id)
  WHERE finished_at IS NULL AND status <> 'queued' AND paused_from IS DISTINCT FROM 'queued';
