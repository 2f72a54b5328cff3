-- Keys of the server's operator, which manage the keys of every organization.
ALTER TABLE api_keys ADD COLUMN is_admin boolean NOT NULL DEFAULT false;
