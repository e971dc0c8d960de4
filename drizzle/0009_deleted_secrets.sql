-- Secrets that were deleted by themselves can be restored like those that went with their project; and
-- environments exist before anything is stored in them.
ALTER TABLE "deleted_secrets" DROP CONSTRAINT "deleted_secrets_project_id_deleted_projects_id_fk";
--> statement-breakpoint
ALTER TABLE "deleted_projects" ADD COLUMN "environments" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD COLUMN "deleted_with" uuid;--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD COLUMN "deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "environments" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
UPDATE "deleted_secrets" SET "deleted_with" = "project_id";--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD CONSTRAINT "deleted_secrets_deleted_with_deleted_projects_id_fk" FOREIGN KEY ("deleted_with") REFERENCES "public"."deleted_projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deleted_secrets_deleted_with_index" ON "deleted_secrets" USING btree ("deleted_with");--> statement-breakpoint
CREATE INDEX "deleted_secrets_deleted_at_index" ON "deleted_secrets" USING btree ("deleted_at");