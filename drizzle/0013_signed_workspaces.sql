-- Signed workspaces: the links of a chain, what tokens were granted and what environments hold, as members signed it.
-- What a verdict depends on counts the policy version up, like everything that the resolver decides by.
CREATE TABLE "manifests" (
	"workspace_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"environment" text NOT NULL,
	"revision" integer NOT NULL,
	"statement" text NOT NULL,
	"signature" "bytea" NOT NULL,
	CONSTRAINT "manifests_workspace_id_project_id_environment_pk" PRIMARY KEY("workspace_id","project_id","environment")
);
--> statement-breakpoint
CREATE TABLE "token_grants" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"statement" text NOT NULL,
	"signature" "bytea" NOT NULL,
	"binding" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspace_links" (
	"workspace_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"statement" text NOT NULL,
	"signature" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workspace_links_workspace_id_seq_pk" PRIMARY KEY("workspace_id","seq")
);
--> statement-breakpoint
ALTER TABLE "token_envelopes" ADD COLUMN "statement" text;--> statement-breakpoint
ALTER TABLE "token_envelopes" ADD COLUMN "signature" "bytea";--> statement-breakpoint
ALTER TABLE "manifests" ADD CONSTRAINT "manifests_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_grants" ADD CONSTRAINT "token_grants_token_id_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_grants" ADD CONSTRAINT "token_grants_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_links" ADD CONSTRAINT "workspace_links_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TRIGGER workspace_links_inserted AFTER INSERT ON workspace_links REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER workspace_links_updated AFTER UPDATE ON workspace_links REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER workspace_links_deleted AFTER DELETE ON workspace_links REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_grants_inserted AFTER INSERT ON token_grants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_grants_updated AFTER UPDATE ON token_grants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_grants_deleted AFTER DELETE ON token_grants REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER manifests_inserted AFTER INSERT ON manifests REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER manifests_updated AFTER UPDATE ON manifests REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER manifests_deleted AFTER DELETE ON manifests REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
