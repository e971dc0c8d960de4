/** Changes that an attacker makes in the database of a workspace with an honest history. Each must raise an alarm. */
import type { World } from './world.ts'

type Tampering = { what: string; does(): Promise<boolean>; undo(): Promise<unknown> }

export function tampering({ app, workspaceId, tokens }: World): Tampering[] {
  const { sql } = app.connection
  const live = tokens.find(({ isLive }) => isLive)
  const ended = tokens.find(({ isLive }) => !isLive)
  return [
    {
      what: 'a token that ended is active again',
      does: async () => {
        const rows = await sql`update tokens set revoked_at = null
          where id = ${ended?.id ?? null} and exists (select from token_grants g where g.token_id = id)`
        return rows.count > 0
      },
      undo: () => sql`update tokens set revoked_at = now() where id = ${ended?.id ?? null}`,
    },
    {
      what: 'a grant has another signature',
      does: async () => {
        const rows =
          await sql`update token_grants set signature = set_byte(signature, 0, get_byte(signature, 0) # 1)
          where token_id = ${live?.id ?? null}`
        return rows.count > 0
      },
      undo: () => sql`update token_grants set signature = set_byte(signature, 0, get_byte(signature, 0) # 1)
        where token_id = ${live?.id ?? null}`,
    },
    {
      what: 'a token has another label',
      does: async () => {
        const rows =
          await sql`update tokens set label = label || '-x' where id = ${live?.id ?? null}`
        return rows.count > 0
      },
      undo: () => sql`update tokens set label = left(label, -2) where id = ${live?.id ?? null}`,
    },
    {
      what: 'a host is on the list that nobody signed',
      does: async () => {
        await sql`insert into allowlist_entries (id, workspace_id, domain, added_by)
          select gen_random_uuid(), ${workspaceId}, 'evil.example', user_id from memberships
          where workspace_id = ${workspaceId} limit 1`
        return true
      },
      undo: () => sql`delete from allowlist_entries where domain = 'evil.example'`,
    },
    {
      what: 'a member has another role',
      does: async () => {
        const rows =
          await sql`update memberships set role = case when role = 'owner' then 'admin' else 'owner' end
          where workspace_id = ${workspaceId}`
        return rows.count > 0
      },
      undo: () => sql`update memberships set role = case when role = 'owner' then 'admin' else 'owner' end
        where workspace_id = ${workspaceId}`,
    },
  ]
}
