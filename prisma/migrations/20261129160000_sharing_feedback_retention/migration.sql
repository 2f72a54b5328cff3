-- Retention: the setting stands on the row, and the moment follows from it and the session's end. A generated column
-- cannot be forgotten by a statement that ends or restarts a session.
-- Sharing: the token of a session's public link; null when it is not shared.
ALTER TABLE sessions
  ADD COLUMN delete_after_min integer,
  ADD COLUMN share_token text;

-- Escapes are taken out first: Postgres reads no field of JSON that holds \u0000 or a lone surrogate anywhere.
UPDATE sessions SET delete_after_min = least(asked.minutes, 2147483647)::integer
  FROM (SELECT id, (regexp_replace(request::text, '\\(u[0-9A-Fa-f]{4}|.)', '_', 'g')::json
                    ->> 'delete_after_min')::numeric AS minutes FROM sessions) AS asked
 WHERE asked.id = sessions.id AND asked.minutes IS NOT NULL;

ALTER TABLE sessions ADD COLUMN delete_at timestamptz GENERATED ALWAYS AS
  ((finished_at AT TIME ZONE 'UTC' + delete_after_min * interval '1 minute') AT TIME ZONE 'UTC') STORED;

CREATE INDEX sessions_delete_idx ON sessions (delete_at) WHERE delete_at IS NOT NULL;
CREATE UNIQUE INDEX sessions_share_token_idx ON sessions (share_token) WHERE share_token IS NOT NULL;

CREATE TABLE feedback (
  session_id   uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE ON UPDATE CASCADE,
  -- -1 for the session as a whole: a key cannot hold null.
  event_index  integer NOT NULL,
  user_name    text NOT NULL,
  success      boolean NOT NULL,
  message      text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, event_index, user_name)
);
