/** One more migration, such as the next version may add. */
import { type Migration, migrations } from '../../../src/database/migrations/migrate.ts'

const list = migrations as Migration[]
list.push({
  name: '9999_later',
  text: `create table later (id uuid primary key);
    alter table secrets add column later text;
    alter table tokens add column later text default 'none' not null;
    alter table audit_logs add column later jsonb;
    create index audit_logs_later on audit_logs (recorded_at)`,
})
