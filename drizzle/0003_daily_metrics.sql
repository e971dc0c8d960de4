CREATE TABLE "daily_metrics" (
	"date" date PRIMARY KEY NOT NULL,
	"total_users" bigint NOT NULL,
	"new_users" bigint NOT NULL,
	"total_workspaces" bigint NOT NULL,
	"total_projects" bigint NOT NULL,
	"total_secrets" bigint NOT NULL,
	"total_agents" bigint NOT NULL,
	"active_tokens" bigint NOT NULL,
	"dau" bigint NOT NULL,
	"wau" bigint NOT NULL,
	"mau" bigint NOT NULL,
	"resolver_calls" bigint NOT NULL,
	"resolver_blocked" bigint NOT NULL,
	"resolver_redacted" bigint NOT NULL,
	"resolver_errors" bigint NOT NULL,
	"active_agents" bigint NOT NULL,
	"resolver_p_50_ms" integer,
	"resolver_p_95_ms" integer,
	"workload_deliveries" bigint NOT NULL,
	"top_domains" jsonb NOT NULL,
	"computed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_activity" (
	"day" date NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "user_activity_day_user_id_pk" PRIMARY KEY("day","user_id")
);
