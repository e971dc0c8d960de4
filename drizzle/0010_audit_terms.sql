-- Ten indexes were most of what a record cost. What a list is filtered by now has one row for each quarter of a
-- second in which it occurs; the records of that time are found by their time.
CREATE TABLE "audit_terms" (
	"term" bigint NOT NULL,
	"bucket" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE FUNCTION audit_bucket(moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT date_bin('250 milliseconds', moment, timestamptz '2000-01-01 00:00:00+00')
$$;
--> statement-breakpoint
-- The database's own hash, as stable as its hash partitions are.
CREATE FUNCTION audit_term(workspace_id uuid, field text, value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended(field || ' ' || lower(value COLLATE "C"), uuid_hash_extended(workspace_id, 0))
$$;
--> statement-breakpoint
-- An agent is found by its name, its id and its token alike; of several credentials each; and apart who made
-- requests.
CREATE FUNCTION audit_fields_of(source text, agent_id text, registration_id uuid, token_id uuid, project_id uuid,
  environment text, method text, target_domain text, credential_ref text, status_code integer, action text)
RETURNS TABLE (field text, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT * FROM (
    VALUES ('agent', agent_id), ('agent', registration_id::text), ('agent', token_id::text),
      ('project', project_id::text), ('environment', environment), ('method', method),
      ('domain', target_domain), ('status', status_code::text), ('action', action),
      ('caller', CASE WHEN is_request(source, action) THEN agent_id END)
  ) AS known(field, value) WHERE value IS NOT NULL
  UNION ALL SELECT 'credential', unnest(string_to_array(credential_ref, ','))
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_added_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH alike AS MATERIALIZED (
    SELECT workspace_id, audit_bucket(timestamp) AS bucket, source, agent_id, registration_id, token_id,
      project_id, environment, method, target_domain, credential_ref, status_code, action, count(*) AS requests,
      count(*) FILTER (WHERE decision = 'allowed') AS allowed,
      count(*) FILTER (WHERE decision = 'blocked') AS blocked,
      count(*) FILTER (WHERE decision = 'error') AS errors, count(*) FILTER (WHERE redacted) AS redacted
    FROM added GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  ), counted AS (
    INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
        requests, allowed, blocked, errors, redacted)
      SELECT workspace_id, date_trunc('hour', bucket, 'UTC'), agent_id, target_domain, credential_ref,
        sum(requests), sum(allowed), sum(blocked), sum(errors), sum(redacted)
      FROM alike WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5
  )
  INSERT INTO audit_terms (term, bucket)
    SELECT DISTINCT audit_term(workspace_id, field, value), bucket
      FROM alike CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
        environment, method, target_domain, credential_ref, status_code, action);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- A term goes when no record of its time has it. The planner may first see an empty audit_terms and keep the plan
-- that it made for that: only the one through the index stays right while the table grows.
CREATE OR REPLACE FUNCTION count_removed_audit_logs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      -count(*), -count(*) FILTER (WHERE decision = 'allowed'), -count(*) FILTER (WHERE decision = 'blocked'),
      -count(*) FILTER (WHERE decision = 'error'), -count(*) FILTER (WHERE redacted)
    FROM removed WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5;
  DELETE FROM audit_terms t USING (
    SELECT audit_term(workspace_id, field, value) AS term, audit_bucket(timestamp) AS bucket
      FROM removed CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
        environment, method, target_domain, credential_ref, status_code, action)
    EXCEPT
    SELECT audit_term(workspace_id, field, value), touched.bucket
      FROM (SELECT DISTINCT workspace_id AS id, audit_bucket(timestamp) AS bucket FROM removed) AS touched
      JOIN audit_logs ON workspace_id = touched.id AND timestamp >= touched.bucket
        AND timestamp < touched.bucket + interval '250 milliseconds'
      CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
        environment, method, target_domain, credential_ref, status_code, action)
  ) AS gone WHERE t.term = gone.term AND t.bucket = gone.bucket;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Most updates add an outcome that counts alike, and leave nothing but its status here.
CREATE OR REPLACE FUNCTION count_changed_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT * FROM (
      SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
        sum(sign) AS requests, coalesce(sum(sign) FILTER (WHERE decision = 'allowed'), 0) AS allowed,
        coalesce(sum(sign) FILTER (WHERE decision = 'blocked'), 0) AS blocked,
        coalesce(sum(sign) FILTER (WHERE decision = 'error'), 0) AS errors,
        coalesce(sum(sign) FILTER (WHERE redacted), 0) AS redacted
      FROM (SELECT 1 AS sign, * FROM added UNION ALL SELECT -1, * FROM removed) AS changes
      WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5) AS sums
    WHERE (requests, allowed, blocked, errors, redacted) <> (0, 0, 0, 0, 0);
  INSERT INTO audit_terms (term, bucket)
    SELECT audit_term(workspace_id, field, value), audit_bucket(timestamp)
      FROM added CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
        environment, method, target_domain, credential_ref, status_code, action)
    EXCEPT
    SELECT audit_term(workspace_id, field, value), audit_bucket(timestamp)
      FROM removed CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
        environment, method, target_domain, credential_ref, status_code, action);
  RETURN NULL;
END
$$;
--> statement-breakpoint
INSERT INTO audit_terms (term, bucket)
  SELECT DISTINCT audit_term(workspace_id, field, value), audit_bucket(timestamp)
  FROM audit_logs CROSS JOIN LATERAL audit_fields_of(source, agent_id, registration_id, token_id, project_id,
    environment, method, target_domain, credential_ref, status_code, action)
  ORDER BY 1, 2;
--> statement-breakpoint
CREATE INDEX "audit_terms_by_term" ON "audit_terms" USING btree ("term","bucket");--> statement-breakpoint
DROP INDEX "audit_logs_by_project";--> statement-breakpoint
DROP INDEX "audit_logs_by_environment";--> statement-breakpoint
DROP INDEX "audit_logs_by_agent";--> statement-breakpoint
DROP INDEX "audit_logs_by_registration";--> statement-breakpoint
DROP INDEX "audit_logs_by_token";--> statement-breakpoint
DROP INDEX "audit_logs_by_domain";--> statement-breakpoint
DROP INDEX "audit_logs_by_method";--> statement-breakpoint
DROP INDEX "audit_logs_by_status";--> statement-breakpoint
DROP INDEX "audit_logs_by_action";--> statement-breakpoint
DROP INDEX "audit_logs_by_credential";--> statement-breakpoint
DROP INDEX "audit_logs_by_several";
