CREATE TABLE log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    kind TEXT NOT NULL,           -- the kind of an event, or the name of what was said
    resource TEXT NOT NULL,
    title TEXT NOT NULL,
    application TEXT NOT NULL,
    duration REAL NOT NULL,
    said TEXT,                    -- JSON, the fields of what was said, or NULL
    origin TEXT UNIQUE            -- what a source calls it, so that nothing enters twice
);
CREATE INDEX log_in_time ON log (time, number);
CREATE INDEX log_of_resource ON log (resource);
CREATE TABLE snapshot (
    time REAL NOT NULL, number INTEGER NOT NULL, made_by TEXT NOT NULL, state BLOB NOT NULL
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE never (pattern TEXT PRIMARY KEY);
