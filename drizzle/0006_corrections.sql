-- Deleted projects wait here for the days in which they can be restored; the audit is found by action and
-- by credential.
CREATE TABLE "deleted_projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deleted_secret_versions" (
	"secret_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"value" "bytea" NOT NULL,
	"policy" json,
	"created_by" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "deleted_secret_versions_secret_id_version_pk" PRIMARY KEY("secret_id","version")
);
--> statement-breakpoint
CREATE TABLE "deleted_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"environment" text NOT NULL,
	"key" text NOT NULL,
	"value" "bytea" NOT NULL,
	"policy" json,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "deleted_projects" ADD CONSTRAINT "deleted_projects_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deleted_secret_versions" ADD CONSTRAINT "deleted_secret_versions_secret_id_deleted_secrets_id_fk" FOREIGN KEY ("secret_id") REFERENCES "public"."deleted_secrets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deleted_secret_versions" ADD CONSTRAINT "deleted_secret_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD CONSTRAINT "deleted_secrets_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD CONSTRAINT "deleted_secrets_project_id_deleted_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."deleted_projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deleted_projects_workspace_id_index" ON "deleted_projects" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "deleted_projects_deleted_at_index" ON "deleted_projects" USING btree ("deleted_at");--> statement-breakpoint
CREATE INDEX "deleted_secrets_project_id_index" ON "deleted_secrets" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_action" ON "audit_logs" USING btree ("workspace_id","action","timestamp","id") WHERE action is not null;--> statement-breakpoint
CREATE INDEX "audit_logs_by_credential" ON "audit_logs" USING btree ("workspace_id","credential_ref","timestamp","id") WHERE credential_ref not like '%,%';--> statement-breakpoint
CREATE INDEX "audit_logs_by_several" ON "audit_logs" USING btree ("workspace_id","timestamp","id") WHERE credential_ref like '%,%';