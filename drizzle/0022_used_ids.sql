-- An ID is used once (protocol 5.1). Triggers remember each, so that neither a new code path nor an older version that
-- runs beside this one can forget it; what a cascade deletes needs no code either.
CREATE TABLE "used_ids" (
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	CONSTRAINT "used_ids_kind_id_pk" PRIMARY KEY("kind","id")
);
--> statement-breakpoint
-- Skips the row, as ON CONFLICT DO NOTHING would: older versions then answer 409 already_exists, too.
CREATE FUNCTION skip_used_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM used_ids WHERE kind = TG_ARGV[0] AND id = NEW.id) THEN RETURN NULL; END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
-- A deleted project is restored under its ID, in its own workspace.
CREATE FUNCTION skip_used_project_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM used_ids WHERE kind = 'project' AND id = NEW.id)
    AND NOT EXISTS (SELECT FROM deleted_projects WHERE id = NEW.id AND workspace_id = NEW.workspace_id)
    THEN RETURN NULL;
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
-- Of two that the check before let pass, one fails here: the ID was used and deleted while the other waited.
CREATE FUNCTION remember_used_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO used_ids (kind, id) VALUES (TG_ARGV[0], NEW.id);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION remember_used_project_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM deleted_projects WHERE id = NEW.id AND workspace_id = NEW.workspace_id) THEN
    INSERT INTO used_ids (kind, id) VALUES ('project', NEW.id) ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO used_ids (kind, id) VALUES ('project', NEW.id);
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- What was deleted before is known from the audit. It is read before the triggers lock out writers.
INSERT INTO used_ids (kind, id)
  SELECT kind, id FROM (
    SELECT DISTINCT known.kind, known.id FROM audit_logs CROSS JOIN LATERAL (VALUES
      ('workspace', workspace_id), ('account', user_id), ('agent', registration_id), ('token', token_id),
      ('project', project_id),
      (CASE resource ->> 'type' WHEN 'member' THEN 'account' ELSE resource ->> 'type' END,
        CASE WHEN source = 'control_plane' AND resource ->> 'type' IN ('workspace', 'member', 'agent', 'token', 'project')
          AND resource ->> 'id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (resource ->> 'id')::uuid END)
    ) AS known(kind, id) WHERE known.id IS NOT NULL) AS named
  ON CONFLICT DO NOTHING;
--> statement-breakpoint
INSERT INTO used_ids (kind, id)
  SELECT kind, id FROM (
    SELECT 'workspace' AS kind, id FROM workspaces UNION ALL SELECT 'account', id FROM users
    UNION ALL SELECT 'agent', id FROM agents UNION ALL SELECT 'token', id FROM tokens
    UNION ALL SELECT 'project', id FROM projects UNION ALL SELECT 'project', id FROM deleted_projects) AS existing
  ON CONFLICT DO NOTHING;
--> statement-breakpoint
CREATE TRIGGER workspaces_used_id BEFORE INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION skip_used_id('workspace');--> statement-breakpoint
CREATE TRIGGER workspaces_remember_id AFTER INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION remember_used_id('workspace');--> statement-breakpoint
CREATE TRIGGER users_used_id BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION skip_used_id('account');--> statement-breakpoint
CREATE TRIGGER users_remember_id AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION remember_used_id('account');--> statement-breakpoint
CREATE TRIGGER agents_used_id BEFORE INSERT ON agents FOR EACH ROW EXECUTE FUNCTION skip_used_id('agent');--> statement-breakpoint
CREATE TRIGGER agents_remember_id AFTER INSERT ON agents FOR EACH ROW EXECUTE FUNCTION remember_used_id('agent');--> statement-breakpoint
CREATE TRIGGER tokens_used_id BEFORE INSERT ON tokens FOR EACH ROW EXECUTE FUNCTION skip_used_id('token');--> statement-breakpoint
CREATE TRIGGER tokens_remember_id AFTER INSERT ON tokens FOR EACH ROW EXECUTE FUNCTION remember_used_id('token');--> statement-breakpoint
CREATE TRIGGER projects_used_id BEFORE INSERT ON projects FOR EACH ROW EXECUTE FUNCTION skip_used_project_id();--> statement-breakpoint
CREATE TRIGGER projects_remember_id AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION remember_used_project_id();--> statement-breakpoint
-- Again what was added until the triggers were there, and what was added and deleted in that time.
INSERT INTO used_ids (kind, id)
  SELECT kind, id FROM (
    SELECT 'workspace' AS kind, id FROM workspaces UNION ALL SELECT 'account', id FROM users
    UNION ALL SELECT 'agent', id FROM agents UNION ALL SELECT 'token', id FROM tokens
    UNION ALL SELECT 'project', id FROM projects UNION ALL SELECT 'project', id FROM deleted_projects) AS existing
  ON CONFLICT DO NOTHING;
--> statement-breakpoint
INSERT INTO used_ids (kind, id)
  SELECT kind, id FROM (
    SELECT DISTINCT known.kind, known.id FROM audit_logs CROSS JOIN LATERAL (VALUES
      ('workspace', workspace_id), ('account', user_id), ('agent', registration_id), ('token', token_id),
      ('project', project_id)
    ) AS known(kind, id) WHERE known.id IS NOT NULL AND recorded_at > now() - interval '1 hour') AS named
  ON CONFLICT DO NOTHING;
