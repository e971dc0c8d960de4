/** The content of a rekey, and its checks before anything is written. All checks are pure. */
import { runInSlices, TimeSlice } from '../../core/async/time_slice.ts'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import { isSamePolicy, MAX_EPOCH, readValueEpoch } from '../../core/crypto/secret_value.ts'
import { buildFieldFault, Fault, type FaultCode, type FieldFault } from '../../core/fault.ts'
import type { Role } from '../../core/grant.ts'
import { MAX_COMPLAINTS } from '../../core/validation/complaints.ts'
import { formComplaint } from '../secrets/index.ts'
import type { GrantedToken } from '../statements/index.ts'
import type { RekeyBody } from './contract.ts'

/** Rows, and characters of base64, that are sealed in one go: what is made of them takes milliseconds. */
const PORTION_ROWS = 200
const PORTION_LENGTH = 262_144

export type StoredSecret = {
  id: string
  project_id: string
  environment: string
  key: string
  policy: unknown
  version: number
}

export type StoredToken = GrantedToken & {
  live: boolean
  /** Whether it holds any envelope. */
  provisioned: boolean
}

/** Everything that is sealed under the workspace key, with its recipients. */
export type Holdings = {
  /** By user id; invited ones too, since their envelopes must stay good. */
  members: Map<string, { role: Role; status: 'active' | 'invited' }>
  tokens: Map<string, StoredToken>
  projectIds: Set<string>
  /** By `placeOf`. */
  secrets: Map<string, StoredSecret>
}

/** The identity of a secret within a workspace. */
export function placeOf({
  project_id,
  environment,
  key,
}: Pick<StoredSecret, 'project_id' | 'environment' | 'key'>): string {
  return `${project_id} ${environment} ${key}`
}

/** Places with at least one entry each. */
export function* portions<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<T[]> {
  let portion: T[] = []
  let length = 0
  for (const entry of list) {
    portion.push(entry)
    length += lengthOf(entry)
    if (portion.length < PORTION_ROWS && length < PORTION_LENGTH) continue
    yield portion
    portion = []
    length = 0
  }
  if (portion.length > 0) yield portion
}

/** @throws Fault `validation_error` when anything is given twice */
export async function requireOnce({
  members,
  tokens,
  secrets,
  derived = [],
}: RekeyBody): Promise<void> {
  const complaints = new Complaints('is given twice')
  await refuseRepeats(complaints, members, 'members', ({ user_id }) => user_id)
  await refuseRepeats(complaints, tokens, 'tokens', ({ token_id }) => token_id)
  const slice = new TimeSlice()
  for (const [index, { envelopes }] of tokens.entries()) {
    const path = `tokens.${index}.envelopes`
    await refuseRepeats(complaints, envelopes, path, (it) => `${it.project_id} ${it.environment}`)
    await slice.waitForNextSlice()
  }
  await refuseRepeats(complaints, secrets, 'secrets', placeOf)
  await refuseRepeats(complaints, derived, 'derived', placeOf)
  complaints.refuse()
}

async function refuseRepeats<T>(
  complaints: Complaints,
  entries: readonly T[],
  path: string,
  identityOf: (entry: T) => string,
): Promise<void> {
  const seen = new Set<string>()
  await runInSlices(entries, (entry, index) => {
    const identity = identityOf(entry)
    if (seen.has(identity)) complaints.add(`${path}.${index}`)
    seen.add(identity)
  })
}

/** @throws Fault `epoch_conflict` unless all of it is for the epoch after the current one */
export async function requireNextEpoch(
  current: number,
  { epoch, tokens, secrets }: RekeyBody,
): Promise<void> {
  if (epoch !== current + 1) throw new Fault('epoch_conflict')
  if (epoch > MAX_EPOCH) throw buildFieldFault('epoch', `must be at most ${MAX_EPOCH}`)
  const complaints = new Complaints('is not for the new epoch')
  await runInSlices(tokens, ({ envelopes }, index) => {
    for (const [at, entry] of envelopes.entries()) {
      if ((entry.epoch ?? epoch) !== epoch) complaints.add(`tokens.${index}.envelopes.${at}.epoch`)
    }
  })
  await runInSlices(secrets, ({ value }, index) => {
    if ((epochOf(value) ?? epoch) !== epoch) complaints.add(`secrets.${index}.value`)
  })
  complaints.refuse('epoch_conflict')
}

/** A value in another client's form names no epoch (protocol 3.3). */
function epochOf(value: string): number | null {
  return readValueEpoch(headOf(value))
}

/** The first 48 bytes, which hold the header. */
function headOf(value: string): Uint8Array {
  return fromBase64(value.slice(0, 64)) ?? new Uint8Array()
}

/** The checks of a body against the content of the workspace. */
export async function requireHeld(held: Holdings, body: RekeyBody): Promise<void> {
  await requireKnown(held, body)
  await requireComplete(held, body)
  await requireSamePolicies(held, body)
  await requireForms(body)
  await requireWithinScope(held, body)
}

/** Items of other workspaces, or missing ones, are `not_found` like everywhere else. */
async function requireKnown(
  held: Holdings,
  { members, tokens, secrets }: RekeyBody,
): Promise<void> {
  const require = (isKnown: boolean) => {
    if (!isKnown) throw new Fault('not_found')
  }
  await runInSlices(members, ({ user_id }) => require(held.members.has(user_id)))
  await runInSlices(tokens, ({ token_id, envelopes }) => {
    require(held.tokens.has(token_id))
    for (const { project_id } of envelopes) require(held.projectIds.has(project_id))
  })
  await runInSlices(secrets, ({ project_id }) => require(held.projectIds.has(project_id)))
}

/** Every member and every secret, and no secret that is not there. */
async function requireComplete(held: Holdings, { members, secrets }: RekeyBody): Promise<void> {
  const missing = new Complaints('is missing')
  const namedMembers = new Set(members.map(({ user_id }) => user_id))
  for (const userId of held.members.keys()) {
    if (!namedMembers.has(userId)) missing.add(`members.${userId}`)
  }
  const surplus = new Complaints('is not a secret of this workspace')
  const named = new Set<string>()
  await runInSlices(secrets, (secret, index) => {
    const place = placeOf(secret)
    named.add(place)
    if (!held.secrets.has(place)) surplus.add(`secrets.${index}.key`)
  })
  await runInSlices(held.secrets, ([place, { project_id, environment, key }]) => {
    if (!named.has(place)) missing.add(`secrets.${project_id}.${environment}.${key}`)
  })
  missing.join(surplus).refuse()
}

/** A rekey changes the key and nothing else: a policy changed on the way would go unnoticed. */
async function requireSamePolicies(held: Holdings, { secrets }: RekeyBody): Promise<void> {
  const complaints = new Complaints('must equal the stored policy')
  await runInSlices(secrets, (secret, index) => {
    const stored = held.secrets.get(placeOf(secret))
    if (!stored || !isSamePolicy(stored.policy, secret.policy))
      complaints.add(`secrets.${index}.policy`)
  })
  complaints.refuse()
}

/** The key that a value is under is never exchanged: tokens cannot read it before, nor after. */
async function requireForms({ secrets }: RekeyBody): Promise<void> {
  const complaints = new Complaints('')
  await runInSlices(secrets, ({ value, policy }, index) => {
    const message = formComplaint(policy, headOf(value))
    if (message !== null) complaints.add(`secrets.${index}.value`, message)
  })
  complaints.refuse()
}

/** A token is never given more than it was issued for. */
async function requireWithinScope(held: Holdings, { tokens }: RekeyBody): Promise<void> {
  const complaints = new Complaints('is outside the scope of the token')
  await runInSlices(tokens, ({ token_id, envelopes }, index) => {
    const scope = held.tokens.get(token_id)
    for (const [at, { project_id, environment }] of envelopes.entries()) {
      const isWithin =
        (scope?.projectId ?? project_id) === project_id &&
        (scope?.environment ?? environment) === environment
      if (!isWithin) complaints.add(`tokens.${index}.envelopes.${at}`)
    }
  })
  complaints.refuse()
}

/** As many as a reply lists; the rest is not kept. */
class Complaints {
  readonly #message: string
  #fields: FieldFault[] = []

  constructor(message: string) {
    this.#message = message
  }

  add(path: string, message = this.#message): void {
    if (this.#fields.length < MAX_COMPLAINTS) this.#fields.push({ path, message })
  }

  join(others: Complaints): this {
    this.#fields = [...this.#fields, ...others.#fields].slice(0, MAX_COMPLAINTS)
    return this
  }

  /** @throws Fault when there are any */
  refuse(code: FaultCode = 'validation_error'): void {
    if (this.#fields.length > 0) throw new Fault(code, { fields: this.#fields })
  }
}
