/** Derived credentials in a rekey: their states move to the new key with the next generation, or are deleted. */
import { sql } from 'drizzle-orm'
import { TimeSlice } from '../../core/async/time_slice.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { type OuterLayer, secretRow } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import type { RekeyBody } from './contract.ts'
import { placeOf, portions } from './rekey_checks.ts'

type Rekey = Grant<'workspace.update'>

/** Rows to be written by one statement each, as the text of a JSON array. */
export async function sealDerived(
  outer: OuterLayer,
  { workspaceId }: Rekey,
  { derived = [] }: RekeyBody,
): Promise<string[]> {
  const sealed: string[] = []
  const slice = new TimeSlice()
  for (const portion of portions(derived, ({ state }) => state.length)) {
    const rows = portion.map(async ({ state, ...row }) => {
      const place = secretRow({ ...row, projectId: row.project_id })
      const raw = Uint8Array.fromBase64(state)
      return { ...row, state: toBase64(await outer.seal('derived.state', workspaceId, place, raw)) }
    })
    sealed.push(JSON.stringify(await Promise.all(rows)))
    if (slice.isSpent) await slice.waitForNextSlice()
  }
  return sealed
}

type Held = {
  project_id: string
  environment: string
  key: string
  generation: number
  is_leased: boolean
}

/**
 * Before the secrets are written, which would take leases from their holders.
 *
 * @throws Fault `conflict` for a live lease, and for a state of another generation
 */
export async function replaceDerived(
  tx: Transaction,
  { workspaceId }: Rekey,
  { derived = [] }: RekeyBody,
  sealed: readonly string[],
): Promise<void> {
  const rows = await tx.execute<Held>(sql`
    select project_id, environment, key, generation::float8 as generation,
      coalesce(lease_until > clock_timestamp(), false) as is_leased
    from derived_states where workspace_id = ${workspaceId} for update`)
  if (rows.length === 0 && derived.length === 0) return
  const held = new Map(rows.map((row) => [placeOf(row), row.generation]))
  const isStale = derived.some((sent) => held.get(placeOf(sent)) !== sent.generation)
  if (isStale || rows.some(({ is_leased }) => is_leased)) throw new Fault('conflict')
  for (const portion of sealed)
    await tx.execute(sql`
      update derived_states d set generation = d.generation + 1, state = decode(r.state, 'base64'),
        failed_at = null, failed_code = null, failures = 0, retry_at = null, is_final = false
      from json_to_recordset(${portion}::text::json)
        as r(project_id uuid, environment text, key text, generation bigint, state text)
      where d.workspace_id = ${workspaceId} and d.project_id = r.project_id and d.environment = r.environment
        and d.key = r.key`)
  const kept = JSON.stringify(
    derived.map(({ project_id, environment, key }) => ({ project_id, environment, key })),
  )
  await tx.execute(sql`
    delete from derived_states d where d.workspace_id = ${workspaceId} and not exists (
      select from json_to_recordset(${kept}::text::json) as r(project_id uuid, environment text, key text)
      where d.project_id = r.project_id and d.environment = r.environment and d.key = r.key)`)
}
