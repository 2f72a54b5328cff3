-- Why a session is where it is: since when it is in its state, and when its worker was last heard of.
ALTER TABLE sessions
  ADD COLUMN state_since timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN claimed_at timestamptz,
  ADD COLUMN heartbeat_at timestamptz;
