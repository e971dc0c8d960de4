CREATE TABLE "audit_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"timestamp" timestamp (3) with time zone NOT NULL,
	"agent_id" text NOT NULL,
	"registration_id" uuid,
	"user_id" uuid,
	"project_id" uuid,
	"environment" text,
	"credential_ref" text,
	"action" text NOT NULL,
	"resource" jsonb NOT NULL
);
