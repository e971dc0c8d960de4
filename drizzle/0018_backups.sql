ALTER TABLE "instance" ADD COLUMN "backup_minute" bigint;--> statement-breakpoint
ALTER TABLE "instance" ADD COLUMN "backed_up_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "instance" ADD COLUMN "backup_failed_at" timestamp (3) with time zone;