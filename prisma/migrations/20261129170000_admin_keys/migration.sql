-- Keys of the server's operator, which manage the keys of every organization.
ALTER TABLE api_keys ADD COLUMN is_admin boolean NOT NULL DEFAULT false;

-- Of a key that somebody chose, even the first characters are nobody's business.
UPDATE api_keys SET hint = '' WHERE hint NOT LIKE 'tdm\_%';
