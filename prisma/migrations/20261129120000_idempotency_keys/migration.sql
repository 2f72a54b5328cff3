-- Which session a key of a create request made. The primary key decides between two requests at once.
CREATE TABLE idempotency_keys (
  organization_id  uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  key              text NOT NULL,
  body_hash        bytea NOT NULL,
  session_id       uuid NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
