/**
 * Reads a row of the journal as intents. Anyone who may write to the journal may have written anything there, so each
 * field is checked before it is used in a statement with other records.
 */
import { z } from 'zod'
import { unfilledPlaces } from '../core/policy/unfilled.ts'
import { tokenActions } from '../http/endpoint.ts'
import type { Entry, Intent } from './entry.ts'

/** Fields that an intent of an earlier release left out. */
const WITHOUT_OUTCOME = { reason: null, status_code: null, duration_ms: null, redacted: null }

/** Accepts characters that fit into an array of the statement. The database checks whether the text is an id. */
const id = z.string().regex(/^[\w-]+$/)
const text = z.string().nullish()
const integer = z.int().nullish()

const storedIntent = z.looseObject({
  id: z.guid(),
  workspace_id: id,
  token_id: id,
  registration_id: id.nullish(),
  project_id: id.nullish(),
  agent_id: z.string(),
  identity_level: z.enum(['agent', 'workload']),
  timestamp: z
    .union([z.number(), z.string()])
    .refine((moment) => Number.isFinite(new Date(moment).getTime())),
  environment: text,
  method: text,
  target_url: text,
  target_path: text,
  target_domain: text,
  credential_ref: text,
  injection_style: text,
  unfilled: z.array(z.object({ name: z.string(), place: z.enum(unfilledPlaces) })).nullish(),
  approval_id: id.nullish(),
  action: z.enum(tokenActions).nullish(),
  decision: z.enum(['allowed', 'blocked', 'error']),
  reason: text,
  refused_by: z.object({ secret: z.string(), rule: z.string() }).nullish(),
  status_code: integer,
  duration_ms: integer,
  redacted: z.boolean().nullish(),
  proof: z.int(),
})

/**
 * Returns a row's live intents by name. Objects are from an earlier release, or were moved back from `audit_refused`.
 *
 * @throws an error for text that no process writes, or if no intent is left
 */
export function readIntents(text: string, live: string): Intent[] {
  const numbers = new Set(live.split(' ').map(Number))
  const [names, ...rows] = z.tuple([z.unknown()], z.unknown()).parse(JSON.parse(text))
  const stored = Array.isArray(names)
    ? z
        .array(z.array(z.unknown()))
        .parse(rows)
        .map((row) => Object.fromEntries(names.map((name, column) => [name, row[column]])))
    : [names, ...rows]
  const intents = stored
    .map((one) => storedIntent.parse(one) as unknown as Entry & { proof: number })
    .filter(({ proof }) => numbers.has(proof))
  if (intents.length === 0) throw new Error('a journal row has no intent')
  return intents.map(intentOf)
}

function intentOf({ proof, timestamp, ...entry }: Entry & { proof: number }): Intent {
  return { entry: { ...WITHOUT_OUTCOME, ...entry, timestamp: new Date(timestamp) }, proof }
}
