/**
 * An environment for a process on this machine, by sealed delivery: the server hands out ciphertext to a
 * token that only authenticates, and the values are opened here with the part that stayed here.
 */

import { fromBase64, readUtf8 } from '../../core/crypto/encoding.ts'
import { openTokenEnvelope } from '../../core/crypto/envelope.ts'
import { openSecretValue } from '../../core/crypto/secret_value.ts'
import { formatSealedToken, parseToken, tokenPrivateKey } from '../../core/crypto/token.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { Entry } from '../../core/policy/references.ts'
import { listLinksForToken } from '../../features/links/contract.ts'
import { deliverEnvironment, type SealedDelivery } from '../../features/workloads/contract.ts'
import { openApi } from '../http/api.ts'
import type { Place } from '../signed/statements.ts'
import { type Seen, type SeenBefore, verifyDelivery } from '../signed/verified_delivery.ts'

export type SealedEnvironment = {
  workspaceId: string
  projectId: string
  environment: string
  /** Name → ciphertext and policy. */
  sealed: Record<string, { value: string; policy?: unknown }>
  /** The verified state; null if workspace and token are plain. */
  seen: Seen | null
  /** Names that are stored and were not delivered, as a signed workspace has them. */
  withheld: string[]
  /** Names that need approval for each use according to the server, not in `withheld`. */
  held: string[]
  /** Derived credentials that `open` did not get, with the code of the reason. */
  unavailable: Record<string, string>
  /** Decrypts all values as stored, and fetches derived credentials. @throws Error that names an unreadable value */
  open(): Promise<Map<string, Entry>>
}

/** Text that is no token, or one of a session. */
export class InvalidToken extends Error {
  /** The text begins a token, so it was cut or altered, or it is something else. The message does not repeat it. */
  constructor(text: string) {
    super(
      /^svc_(agt|wkl)_/.test(text)
        ? 'this token is incomplete or was altered'
        : 'this is not an agent token or workload',
    )
    this.name = 'InvalidToken'
  }
}

/** The last verified state of an environment. Older states are rejected. */
export type DeliveryMemory = {
  of(place: Place): SeenBefore | undefined
  remember(place: Place, seen: Seen): void
}

export type AskedScope = { project_id?: string; environment?: string }

/**
 * Fetches a token's secrets. `token` is an agent's or workload's; only its sealed form is sent. Data of a signed
 * workspace is verified before use.
 *
 * @throws ApiError when the server refuses, Error for text that is not a token, Refusal
 */
export async function fetchEnvironment(
  origin: string,
  token: string,
  scope: AskedScope = {},
  memory?: DeliveryMemory,
): Promise<SealedEnvironment> {
  const parsed = parseToken(token)
  if (!parsed || !['agt', 'wkl'].includes(parsed.kind)) throw new InvalidToken(token)
  const { id, secret } = parsed
  const sent = formatSealedToken(id, secret)
  const api = openApi(origin, () => sent)
  const answer = await api.call(deliverEnvironment, { body: scope })
  if (!('sealed' in answer)) throw new Error('the server did not return a sealed environment')
  const place = { projectId: answer.project_id, environment: answer.environment }
  const seen = await verifyDelivery(
    answer,
    { id, secret: new Uint8Array(secret) },
    {
      more: (after) => api.call(listLinksForToken, { query: { after } }),
      seen: memory?.of(place),
      now: new Date(),
      asked: scope,
    },
  )
  if (seen) memory?.remember(place, seen)
  const privateKey = tokenPrivateKey(id, secret)
  const names = listDerivedNames(answer)
  const held = listHeldNames(answer)
  const unavailable: Record<string, string> = {}
  const derive = async (): Promise<[string, Entry][]> => {
    const whole = openApi(origin, () => token)
    const derived: [string, Entry][] = []
    for (let from = 0; from < names.length; from += MAX_NAMES) {
      const body = { ...scope, names: names.slice(from, from + MAX_NAMES) }
      const part = await whole.call(deliverEnvironment, { body })
      if (!('secrets' in part)) throw new Error('the server did not return credentials')
      Object.assign(unavailable, part.unavailable)
      for (const name of body.names) {
        const value = part.secrets[name]
        if (value !== undefined) derived.push([name, { value, policy: null }])
      }
    }
    return derived
  }
  return {
    workspaceId: answer.workspace_id,
    ...place,
    sealed: answer.sealed,
    seen,
    withheld: Object.keys(answer.value_sha256 ?? {})
      .filter((name) => !names.includes(name) && !held.includes(name))
      .sort(),
    held,
    unavailable,
    open: async () => new Map([...openAll(answer, id, privateKey), ...(await derive())]),
  }
}

/** Names in one request. */
const MAX_NAMES = 100

/** A server cannot choose names: in a signed workspace, they are those of stored secrets. */
function listDerivedNames({ derived = [], sealed, value_sha256, grant }: SealedDelivery): string[] {
  const isStored = (name: string) => !grant || Object.hasOwn(value_sha256 ?? {}, name)
  return derived.filter((name) => !Object.hasOwn(sealed, name) && isStored(name))
}

/** Held secrets are in signed workspaces only, whose manifest has the names of all secrets. */
function listHeldNames({ unavailable = {}, sealed, value_sha256 = {} }: SealedDelivery): string[] {
  return Object.keys(value_sha256)
    .filter((name) => unavailable[name] === 'approval_required' && !Object.hasOwn(sealed, name))
    .sort()
}

type Answer = {
  workspace_id: string
  project_id: string
  environment: string
  sealed: Record<string, { value: string; policy?: unknown }>
  envelopes: readonly { project_id: string; environment: string; epoch: number; envelope: string }[]
}

function openAll(answer: Answer, tokenId: string, privateKey: Uint8Array): Map<string, Entry> {
  const key = environmentKeyOf(answer, tokenId, privateKey)
  return new Map(
    Object.entries(answer.sealed).map(([name, { value: ciphertext, policy }]) => {
      const place = { projectId: answer.project_id, environment: answer.environment, key: name }
      const opened = openSecretValue(
        key,
        place,
        (policy ?? null) as Policy | null,
        fromBase64(ciphertext) ?? new Uint8Array(),
      )
      if (!opened)
        throw new Error(
          `the secret ${name} cannot be decrypted: it was altered or sealed with another key`,
        )
      return [name, { value: readUtf8(opened.reveal()), policy }]
    }),
  )
}

function environmentKeyOf(answer: Answer, tokenId: string, privateKey: Uint8Array): Uint8Array {
  const { workspace_id: workspaceId, project_id: projectId, environment } = answer
  for (const { epoch, envelope } of answer.envelopes) {
    const place = { workspaceId, tokenId, projectId, environment, epoch }
    const opened = openTokenEnvelope(place, privateKey, fromBase64(envelope) ?? new Uint8Array())
    if (opened) return opened
  }
  throw new Error(
    'the token has no key for this environment; ask an admin to run: cloakroom token grant',
  )
}
