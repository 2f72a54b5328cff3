-- What happens next by itself: the deadline of a call is one more of it.
CREATE INDEX sessions_timers_idx ON sessions ((LEAST(idle_until, time_limit_at, call_deadline_at)))
  WHERE idle_until IS NOT NULL OR time_limit_at IS NOT NULL OR call_deadline_at IS NOT NULL;
