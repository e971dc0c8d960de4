/**
 * A signed workspace as rows in the database, written without the server: what its founder signed, and an agent's
 * token that was granted one environment. Each row can then be changed, like in a database that lies.
 */
import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { Capability } from '../../src/core/capability.ts'
import { fromBase64, toBase64, toBase64Url } from '../../src/core/crypto/encoding.ts'
import { sealTokenEnvelope } from '../../src/core/crypto/envelope.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import { environmentKey, sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import {
  deriveVerifier,
  formatSealedToken,
  formatToken,
  parseToken,
  tokenKeyPair,
} from '../../src/core/crypto/token.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import {
  agents,
  manifests,
  projects,
  secrets,
  tokenEnvelopes,
  tokenGrants,
  tokens,
  workspaceLinks,
  workspaces,
} from '../../src/database/schema/index.ts'
import {
  type Chain,
  emptyChain,
  extend,
  type Identity,
  identityOf,
  type LinkChange,
  makeBinding,
  manifestRoot,
  readFirstHash,
  type SignedText,
  signLink,
  signText,
  type TokenGrant,
} from '../../src/sigchain/index.ts'
import { type Agent, API, resolveAs, type Stage } from './agent.ts'
import type { TestApp } from './app.ts'
import { signedId } from './signed.ts'

const AT = '2026-11-22T00:00:00.000Z'
const ENVIRONMENT = 'development'
const EPOCH = 1

/** A person who signs. */
export type Signer = { userId: string; identity: Identity }

export type SignedRows = Pick<
  Agent,
  'workspaceId' | 'projectId' | 'environment' | 'token' | 'tokenId' | 'registrationId' | 'resolve'
> & {
  founder: Signer
  sealed: string
  /** The chain as it was signed, even if rows were changed since. */
  chain(): Chain
  /** Appends a link to the chain and to the rows. */
  link(change: Pick<LinkChange, 'type' | 'body'>, signer?: Signer): Promise<void>
  /** Stores the token's grant, signed now; `over` has the fields that differ from the token's row. */
  grant(over?: Partial<TokenGrant>, signer?: Signer): Promise<void>
  /** Stores the envelope of an environment, signed now. */
  provision(environment?: string, signer?: Signer): Promise<void>
  /** Stores values, and the next manifest over all contents of the environment. */
  store(values: Record<string, string>, options?: StoreOptions): Promise<void>
  /** Stores the next manifest over the contents of the environment. */
  manifest(environment?: string, revision?: number): Promise<void>
  /** A row of `secrets` in its stored form. */
  row(key: string, value: string, options?: StoreOptions): Promise<typeof secrets.$inferInsert>
}

type StoreOptions = { environment?: string; policy?: Policy }

type Options = {
  secrets?: Record<string, string>
  domains?: readonly string[]
  capabilities?: Capability[]
  /** Whether the token is bound to the project and environment. */
  bound?: boolean
  expiresAt?: Date | null
}

let counter = 0

export async function newSigner(name: string): Promise<Signer & { email: string }> {
  counter += 1
  const identity = await identityOf(new Uint8Array(randomBytes(32)))
  return { userId: Bun.randomUUIDv7(), identity, email: `${name}-${counter}@signers.example` }
}

export function personOf({ userId, identity, email }: Awaited<ReturnType<typeof newSigner>>) {
  const { signing_key, public_key } = identity
  return { user_id: userId, email, signing_key, public_key }
}

export async function signedRows(
  { app, authorityOf }: Pick<Stage, 'app' | 'authorityOf'>,
  options: Options = {},
): Promise<SignedRows> {
  const { capabilities = ['use'], bound = false, expiresAt = null } = options
  const { db } = app.connection
  const outer = OuterLayer.parse(app.config.ENCRYPTION_KEY)
  const founder = await newSigner('founder')
  const workspaceId = signedId()
  const workspaceKey = new Uint8Array(randomBytes(32))
  const [projectId, registrationId] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  await db.insert(workspaces).values({ id: workspaceId, name: 'Signed', type: 'shared' })
  await db.insert(projects).values({ id: projectId, workspaceId, name: 'main' })
  await db.insert(agents).values({ id: registrationId, workspaceId, name: 'agent' })
  const token = await insertToken(app, workspaceId, {
    agentId: registrationId,
    capabilities,
    expiresAt,
    ...(bound ? { projectId, environment: ENVIRONMENT } : {}),
  })
  let chain = emptyChain(workspaceId)

  const about = (signer: Signer) =>
    ({ v: 2, workspace_id: workspaceId, head: chain.head, signer: signer.userId }) as const

  const rows: SignedRows = {
    ...{ workspaceId, projectId, registrationId, environment: ENVIRONMENT, founder },
    token: token.text,
    tokenId: token.id,
    sealed: formatSealedToken(token.id, token.secret),
    resolve: (body, origin = app.resolver) => resolveAs(origin, token.text, body),
    chain: () => chain,

    link: async (change, signer = founder) => {
      const said = { ...change, at: AT, signer: signer.userId } as LinkChange
      const link = await signLink(chain, said, signer.identity.signingKey)
      chain = await extend(chain, [link])
      await db.insert(workspaceLinks).values({ workspaceId, seq: chain.seq, ...stored(link) })
    },

    grant: async (over = {}, signer = founder) => {
      const said: TokenGrant = {
        ...about(signer),
        ...{ token_id: token.id, kind: 'agent', agent_id: registrationId, label: 'default' },
        public_key: token.publicKey,
        capabilities: capabilities as TokenGrant['capabilities'],
        project_id: bound ? projectId : null,
        environment: bound ? ENVIRONMENT : null,
        expires_at: expiresAt?.toISOString() ?? null,
        ...over,
      } as TokenGrant
      const text = await signText('grant', said, signer.identity.signingKey)
      const binding = fromBase64(await makeBinding(token, readFirstHash(chain))) ?? new Uint8Array()
      const set = { workspaceId, ...stored(text), binding }
      await db
        .insert(tokenGrants)
        .values({ tokenId: token.id, ...set })
        .onConflictDoUpdate({ target: tokenGrants.tokenId, set })
    },

    provision: async (environment = ENVIRONMENT, signer = founder) => {
      const key = environmentKey(workspaceKey, projectId, environment, EPOCH)
      const place = { workspaceId, tokenId: token.id, projectId, environment, epoch: EPOCH }
      const publicKey = fromBase64(token.publicKey) ?? new Uint8Array()
      const raw = fromBase64(await sealTokenEnvelope(place, publicKey, key)) ?? new Uint8Array()
      const said = {
        ...{ ...about(signer), token_id: token.id, project_id: projectId, environment },
        ...{ epoch: EPOCH, envelope_sha256: toBase64Url(sha256(raw)) },
      }
      const text = await signText('envelope', said, signer.identity.signingKey)
      const parts = [{ uuid: token.id }, { uuid: projectId }, { text: environment }]
      const envelope = await outer.seal('token_envelopes.envelope', workspaceId, parts, raw)
      const set = { envelope, ...stored(text) }
      await db
        .insert(tokenEnvelopes)
        .values({ ...place, ...set })
        .onConflictDoUpdate({
          target: [tokenEnvelopes.tokenId, tokenEnvelopes.projectId, tokenEnvelopes.environment],
          set,
        })
    },

    row: async (key, value, { environment = ENVIRONMENT, policy } = {}) => {
      const place = { projectId, environment, key }
      const opening = environmentKey(workspaceKey, projectId, environment, EPOCH)
      const plaintext = new TextEncoder().encode(value)
      const raw = sealSecretValue(opening, place, policy ?? null, EPOCH, plaintext)
      const sealed = await outer.seal('secrets.value', workspaceId, secretRow(place), raw)
      return { ...place, workspaceId, sealed, policy: policy ?? null }
    },

    store: async (values, options = {}) => {
      for (const [key, value] of Object.entries(values)) {
        const row = await rows.row(key, value, options)
        const target = [secrets.projectId, secrets.environment, secrets.key]
        const set = { sealed: row.sealed, policy: row.policy }
        await db.insert(secrets).values(row).onConflictDoUpdate({ target, set })
      }
      await rows.manifest(options.environment)
    },

    manifest: async (environment = ENVIRONMENT, revision) => {
      const found = await db.select().from(secrets).where(eq(secrets.projectId, projectId))
      const hashes = new Map<string, ReturnType<typeof sha256>>()
      for (const row of found.filter((each) => each.environment === environment)) {
        const raw = await outer.open('secrets.value', workspaceId, secretRow(row), row.sealed)
        hashes.set(row.key, sha256(raw ?? new Uint8Array()))
      }
      const [newest] = await db.select().from(manifests).where(eq(manifests.projectId, projectId))
      const next = revision ?? (newest?.revision ?? 0) + 1
      const said = {
        ...{ ...about(founder), project_id: projectId, environment, epoch: EPOCH },
        ...{ revision: next, root: await manifestRoot(hashes) },
      }
      const text = await signText('manifest', said, founder.identity.signingKey)
      const set = { revision: next, ...stored(text) }
      const target = [manifests.workspaceId, manifests.projectId, manifests.environment]
      await db
        .insert(manifests)
        .values({ workspaceId, projectId, environment, ...set })
        .onConflictDoUpdate({ target, set })
    },
  }

  const key_commitment = keyCommitment(workspaceId, EPOCH, workspaceKey)
  await rows.link({
    type: 'workspace.created',
    body: { founder: personOf(founder), epoch: EPOCH, key_commitment },
  })
  const add = [...(options.domains ?? [authorityOf(API)])]
  if (add.length > 0) await rows.link({ type: 'allowlist.changed', body: { add, remove: [] } })
  await rows.grant()
  await rows.provision()
  if (options.secrets) await rows.store(options.secrets)
  return rows
}

/** A signed text as its columns. */
export function stored({ statement, signature }: SignedText) {
  return { statement, signature: fromBase64(signature) ?? new Uint8Array() }
}

type SeenToken = Omit<
  typeof tokens.$inferInsert,
  'id' | 'workspaceId' | 'verifier' | 'publicKey' | 'kind' | 'label'
>

/** A row of a new agent's token, with an ID of a signed workspace by default. */
export async function insertToken(
  { connection, pepper }: TestApp,
  workspaceId: string,
  row: SeenToken,
  id = signedId(),
) {
  const secret = new Uint8Array(randomBytes(32))
  const text = formatToken('agt', id, secret)
  const parsed = parseToken(text)
  if (!parsed) throw new Error('the token does not parse')
  const { publicKey } = tokenKeyPair(id, secret)
  const identity = { kind: 'agt', id, ownerId: workspaceId } as const
  const verifier = pepper.sealVerifier(identity, deriveVerifier(parsed))
  await connection.db
    .insert(tokens)
    .values({ ...row, id, workspaceId, verifier, publicKey, kind: 'agent', label: 'default' })
  return { id, secret, text, publicKey: toBase64(publicKey) }
}
