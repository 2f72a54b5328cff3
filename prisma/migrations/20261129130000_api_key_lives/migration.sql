-- Keys end: at a time that was set when they were made, or when somebody revokes them.
ALTER TABLE api_keys
  ADD COLUMN hint text NOT NULL DEFAULT '',
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN revoked_at timestamptz,
  ADD COLUMN last_used_at timestamptz;
CREATE INDEX api_keys_organization_id_idx ON api_keys (organization_id);
