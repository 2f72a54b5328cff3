-- Tokens that are good for one session. A token ends with its session, and with the key that made it.
CREATE TABLE session_tokens (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  session_id  uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE ON UPDATE CASCADE,
  api_key_id  uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE ON UPDATE CASCADE,
  token_hash  bytea NOT NULL,
  -- Whose calls may be answered, by name; null: those of all tools.
  tools       json,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL
);
CREATE UNIQUE INDEX session_tokens_token_hash_key ON session_tokens (token_hash);
CREATE INDEX session_tokens_session_id_idx ON session_tokens (session_id);
CREATE INDEX session_tokens_api_key_id_idx ON session_tokens (api_key_id);
CREATE INDEX session_tokens_expires_at_idx ON session_tokens (expires_at);
