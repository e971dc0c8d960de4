-- Partitions of the audit by month, for PostgreSQL 14 and later: docs/guides/scaling.md. Run once, by an administrator or by
-- the owner of the tables with CREATE on the database; what it makes belongs to that owner:
--   psql -v ON_ERROR_STOP=1 -f audit_partitions.sql
-- With the users of postgresql_roles.sql, run that file once more afterwards.
-- The server may run: writers wait only while the last transaction renames and attaches. Everything that is added is
-- in the schema audit_partitions; the table keeps its name, and the time in a record's id gives its month.
SELECT relowner::regrole AS owner FROM pg_class WHERE oid = 'audit_logs'::regclass \gset
CREATE SCHEMA audit_partitions AUTHORIZATION :owner;
SET ROLE :owner;

CREATE FUNCTION audit_partitions.first_id(month timestamp) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION audit_partitions.month_of(moment timestamptz) RETURNS timestamp LANGUAGE sql STABLE AS $$
  SELECT date_trunc('month', moment AT TIME ZONE 'UTC')
$$;

-- A client's own id names one record for ever, and a unique index reaches no further than a partition.
CREATE TABLE audit_partitions.client_ids (
  workspace_id uuid NOT NULL,
  client_id text NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (workspace_id, client_id)
);
CREATE INDEX ON audit_partitions.client_ids (id);

CREATE FUNCTION audit_partitions.keep_client_id() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO audit_partitions.client_ids VALUES (new.workspace_id, new.client_id, new.id) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN new; END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION audit_partitions.drop_client_ids() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM audit_partitions.client_ids c USING removed WHERE c.id = removed.id;
  RETURN NULL;
END
$$;

-- The months from the next one to that of `until`; what no partition takes is kept in audit_partitions.others.
CREATE FUNCTION audit_partitions.add_months(until date) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  month timestamp := audit_partitions.month_of(now());
  name text;
  added integer := 0;
BEGIN
  LOOP
    month := month + interval '1 month';
    EXIT WHEN month > until;
    name := to_char(month, '"m"YYYY_MM');
    CONTINUE WHEN to_regclass('audit_partitions.' || name) IS NOT NULL;
    EXECUTE format('CREATE TABLE audit_partitions.%I PARTITION OF audit_logs FOR VALUES FROM (%L) TO (%L)', name,
      audit_partitions.first_id(month), audit_partitions.first_id(month + interval '1 month'));
    added := added + 1;
  END LOOP;
  RETURN added;
END
$$;

-- Takes a partition out of the audit, and out of its summaries and the index of its filters. Its table stays, as
-- audit_partitions.detached_…, to be dumped and dropped. To be called again if it was interrupted.
CREATE PROCEDURE audit_partitions.detach(name text) LANGUAGE plpgsql AS $$
DECLARE
  partition regclass := ('audit_partitions.' || quote_ident(name))::regclass;
BEGIN
  IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = partition) THEN
    -- A statement that waits for the lock blocks all later writers, so it stops after a moment and retries.
    SET LOCAL lock_timeout = '2s';
    EXECUTE format('ALTER TABLE audit_logs DETACH PARTITION %s', partition);
    COMMIT;
  END IF;
  -- With years of partitions, PostgreSQL would compile for seconds what runs in milliseconds.
  SET LOCAL jit = off;
  -- The triggers of the audit look at what was removed under this name: here it is all of the partition.
  EXECUTE format('CREATE TEMPORARY VIEW removed AS SELECT * FROM %s', partition);
  CREATE TEMPORARY TABLE removing ();
  CREATE TRIGGER counts AFTER INSERT ON removing FOR EACH STATEMENT EXECUTE FUNCTION count_removed_audit_logs();
  CREATE TRIGGER ids AFTER INSERT ON removing FOR EACH STATEMENT EXECUTE FUNCTION audit_partitions.drop_client_ids();
  INSERT INTO removing DEFAULT VALUES;
  DROP TABLE removing;
  DROP VIEW removed;
  EXECUTE format('ALTER TABLE %s RENAME TO %I', partition, 'detached_' || name);
END
$$;

-- The existing table becomes the first partition, which ends with this month. It was checked before, without a lock.
DO $$ BEGIN
  EXECUTE format('ALTER TABLE audit_logs ADD CONSTRAINT audit_logs_before CHECK (id < %L) NOT VALID',
    audit_partitions.first_id(audit_partitions.month_of(now()) + interval '1 month'));
END $$;
ALTER TABLE audit_logs VALIDATE CONSTRAINT audit_logs_before;

BEGIN;
LOCK TABLE audit_logs IN ACCESS EXCLUSIVE MODE;
ALTER TABLE audit_logs SET SCHEMA audit_partitions;
ALTER TABLE audit_partitions.audit_logs RENAME TO before;
CREATE TABLE audit_logs (LIKE audit_partitions.before INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING GENERATED)
  PARTITION BY RANGE (id);
ALTER TABLE audit_logs ADD PRIMARY KEY (id);
CREATE INDEX audit_logs_by_time ON audit_logs (workspace_id, timestamp, id);
CREATE INDEX audit_logs_client_id ON audit_logs (workspace_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX audit_logs_by_arrival ON audit_logs USING brin (recorded_at);
DROP TRIGGER audit_logs_added ON audit_partitions.before;
DROP TRIGGER audit_logs_changed ON audit_partitions.before;
DROP TRIGGER audit_logs_removed ON audit_partitions.before;
CREATE TRIGGER audit_logs_added AFTER INSERT ON audit_logs
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_audit_logs();
CREATE TRIGGER audit_logs_changed AFTER UPDATE ON audit_logs
  REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_changed_audit_logs();
CREATE TRIGGER audit_logs_removed AFTER DELETE ON audit_logs
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_audit_logs();
CREATE TRIGGER client_ids_dropped AFTER DELETE ON audit_logs
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION audit_partitions.drop_client_ids();
-- Triggers that refuse rows, such as those of postgresql_roles.sql, refuse them in every partition.
DO $$ DECLARE refusing record; BEGIN
  FOR refusing IN
    SELECT tgname AS name, pg_get_triggerdef(oid) AS definition
      FROM pg_trigger WHERE tgrelid = 'audit_partitions.before'::regclass AND NOT tgisinternal
  LOOP
    EXECUTE format('DROP TRIGGER %I ON audit_partitions.before', refusing.name);
    EXECUTE replace(refusing.definition, ' ON audit_partitions.before ', ' ON audit_logs ');
  END LOOP;
END $$;
-- The privileges on the table and its columns stay.
DO $$ DECLARE allowed record; BEGIN
  FOR allowed IN
    SELECT grantee::regrole AS role, privilege_type AS privilege
      FROM pg_class, aclexplode(relacl) WHERE oid = 'audit_partitions.before'::regclass AND grantee <> 0
    UNION ALL
    SELECT grantee::regrole, format('%s (%I)', privilege_type, attname)
      FROM pg_attribute, aclexplode(attacl) WHERE attrelid = 'audit_partitions.before'::regclass AND grantee <> 0
  LOOP
    EXECUTE format('GRANT %s ON audit_logs TO %s', allowed.privilege, allowed.role);
  END LOOP;
END $$;
INSERT INTO audit_partitions.client_ids
  SELECT workspace_id, client_id, id FROM audit_partitions.before WHERE client_id IS NOT NULL;
DO $$ BEGIN
  EXECUTE format('ALTER TABLE audit_logs ATTACH PARTITION audit_partitions.before FOR VALUES FROM (MINVALUE) TO (%L)',
    audit_partitions.first_id(audit_partitions.month_of(now()) + interval '1 month'));
END $$;
CREATE TABLE audit_partitions.others PARTITION OF audit_logs DEFAULT;
CREATE TRIGGER client_id_kept BEFORE INSERT ON audit_logs
  FOR EACH ROW WHEN (new.client_id IS NOT NULL) EXECUTE FUNCTION audit_partitions.keep_client_id();
SELECT audit_partitions.add_months((now() + interval '2 years')::date);
COMMIT;
