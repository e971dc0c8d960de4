/** What a rekey must fulfil before anything is written: pure checks of the request against the state. */
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import { policyHash, readValueEpoch } from '../../platform/crypto/secret_value.ts'
import { Fault, type FieldFault } from '../../platform/fault.ts'
import type { RekeyBody } from './contract.ts'
import { type HeldSecret, type Holdings, placeOf } from './rekey_queries.ts'

/** As many complaints as an answer lists. */
const MAX_FIELDS = 100

/** @throws Fault `epoch_conflict` unless all of it is for the epoch after the current one */
export function requireNextEpoch(current: number, { epoch, tokens, secrets }: RekeyBody): void {
  if (epoch !== current + 1) throw new Fault('epoch_conflict')
  const stale = [
    ...tokens.flatMap(({ envelopes }, index) =>
      envelopes.flatMap((entry, at) =>
        (entry.epoch ?? epoch) === epoch ? [] : [`tokens.${index}.envelopes.${at}.epoch`],
      ),
    ),
    ...secrets.flatMap(({ value }, index) =>
      (epochOf(value) ?? epoch) === epoch ? [] : [`secrets.${index}.value`],
    ),
  ]
  if (stale.length > 0)
    throw new Fault('epoch_conflict', { fields: complain(stale, 'is not for the new epoch') })
}

/** A value in another client's form names no epoch (section 3.3). */
function epochOf(value: string): number | null {
  return readValueEpoch(fromBase64(value) ?? new Uint8Array())
}

/** What belongs to others, or to nobody, is `not_found` like everywhere else. */
export function requireKnown(held: Holdings, { members, tokens, secrets }: RekeyBody): void {
  const known =
    members.every(({ user_id }) => held.members.has(user_id)) &&
    tokens.every(({ token_id }) => held.tokens.has(token_id)) &&
    tokens.every(({ envelopes }) =>
      envelopes.every(({ project_id }) => held.projectIds.has(project_id)),
    ) &&
    secrets.every(({ project_id }) => held.projectIds.has(project_id))
  if (!known) throw new Fault('not_found')
}

/** Every member and every secret, and no secret that is not there. */
export function requireComplete(held: Holdings, { members, secrets }: RekeyBody): void {
  const namedMembers = new Set(members.map(({ user_id }) => user_id))
  const namedSecrets = new Set(secrets.map(placeOf))
  const missing = [
    ...[...held.members.keys()]
      .filter((userId) => !namedMembers.has(userId))
      .map((userId) => `members.${userId}`),
    ...[...held.secrets.values()]
      .filter((secret) => !namedSecrets.has(placeOf(secret)))
      .map(({ project_id, environment, key }) => `secrets.${project_id}.${environment}.${key}`),
  ]
  const surplus = secrets.flatMap((secret, index) =>
    held.secrets.has(placeOf(secret)) ? [] : [`secrets.${index}.key`],
  )
  refuse([
    ...complain(missing, 'is missing'),
    ...complain(surplus, 'is not a secret of this workspace'),
  ])
}

/** A rekey changes the key and nothing else: a policy changed on the way would go unnoticed. */
export function requireSamePolicies(held: Holdings, { secrets }: RekeyBody): void {
  const changed = secrets.flatMap((secret, index) =>
    isSamePolicy(held.secrets.get(placeOf(secret)), secret.policy)
      ? []
      : [`secrets.${index}.policy`],
  )
  refuse(complain(changed, 'must equal the stored policy'))
}

function isSamePolicy(stored: HeldSecret | undefined, sent: unknown): boolean {
  try {
    return stored !== undefined && policyHash(stored.policy).toHex() === policyHash(sent).toHex()
  } catch {
    // What JCS cannot express was never stored.
    return false
  }
}

/** A token is never given more than it was issued for. */
export function requireWithinScope(held: Holdings, { tokens }: RekeyBody): void {
  const outside = tokens.flatMap(({ token_id, envelopes }, index) => {
    const scope = held.tokens.get(token_id)
    return envelopes.flatMap(({ project_id, environment }, at) =>
      (scope?.projectId ?? project_id) === project_id &&
      (scope?.environment ?? environment) === environment
        ? []
        : [`tokens.${index}.envelopes.${at}`],
    )
  })
  refuse(complain(outside, 'is outside the scope of the token'))
}

function complain(paths: readonly string[], message: string): FieldFault[] {
  return paths.slice(0, MAX_FIELDS).map((path) => ({ path, message }))
}

function refuse(fields: FieldFault[]): void {
  if (fields.length > 0)
    throw new Fault('validation_error', { fields: fields.slice(0, MAX_FIELDS) })
}
