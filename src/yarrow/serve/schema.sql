CREATE TABLE models (
    model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, time REAL NOT NULL,
    champion INTEGER NOT NULL         -- the version that answers
);
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, model INTEGER NOT NULL, spec TEXT NOT NULL,
    since INTEGER NOT NULL            -- it learns the events after this one
);
CREATE TABLE events (
    event INTEGER PRIMARY KEY, model INTEGER NOT NULL, kind INTEGER NOT NULL, time REAL NOT NULL,
    id BLOB,                          -- hash of the event's id
    source TEXT,
    lines INTEGER NOT NULL,           -- how many rows it holds
    check_ INTEGER NOT NULL,          -- CRC of the content
    content BLOB,                     -- NULL: erased
    refused INTEGER NOT NULL DEFAULT 0,
    answer BLOB                       -- what was answered, where it is not just the event's number
);
CREATE UNIQUE INDEX events_by_id ON events (model, id) WHERE id IS NOT NULL;
CREATE INDEX events_by_model ON events (model);
CREATE TABLE changes (                -- labels that were retracted (NULL) or corrected since
    event INTEGER NOT NULL, line INTEGER NOT NULL, label BLOB, PRIMARY KEY (event, line)
) WITHOUT ROWID;
CREATE TABLE streams (                -- the last line of each block of a stream
    model INTEGER NOT NULL, id BLOB NOT NULL, line INTEGER NOT NULL, event INTEGER NOT NULL,
    PRIMARY KEY (model, id, line)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    version INTEGER NOT NULL, event INTEGER NOT NULL,
    rows INTEGER NOT NULL, loss REAL NOT NULL,  -- what it had learned by then
    PRIMARY KEY (version, event)
) WITHOUT ROWID;
CREATE TABLE tokens (name TEXT PRIMARY KEY, hash BLOB NOT NULL, rights TEXT NOT NULL);
CREATE TABLE ticks (tick INTEGER PRIMARY KEY, time REAL NOT NULL);
