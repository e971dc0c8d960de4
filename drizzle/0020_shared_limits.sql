-- What limits count where several processes share a PostgreSQL. Unlogged but for the failures in a row: nothing of it is
-- worth a write to the log of the database, and after a crash or a failover buckets are full again.
CREATE TABLE "failed_attempts" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "live_processes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"resolves" boolean NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "rate_limits" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"full_at" double precision NOT NULL,
	"taken" integer NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "token_rates" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"full_at" double precision NOT NULL,
	"taken" integer NOT NULL
);
