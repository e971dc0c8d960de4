/**
 * Attacks that someone can try offline with the whole database and, in addition, keys of the server, a token or
 * a list of passwords. Everything stored is tried as a key for everything sealed.
 */
import type postgres from 'postgres'
import { unwrapKeys } from '../../src/client/account/account_keys.ts'
import { deriveMasterKey, type Kdf, userKey } from '../../src/client/account/keys.ts'
import { fromBase64, toBase64, utf8 } from '../../src/core/crypto/encoding.ts'
import { openMemberEnvelope, openTokenEnvelope } from '../../src/core/crypto/envelope.ts'
import {
  type OuterColumn,
  OuterLayer,
  type OuterPart,
  secretRow,
} from '../../src/core/crypto/outer_layer.ts'
import { hkdf, KEY_BYTES, x25519PublicKey } from '../../src/core/crypto/primitives.ts'
import { environmentKey, openSecretValue } from '../../src/core/crypto/secret_value.ts'
import { parseToken, tokenKeyPair } from '../../src/core/crypto/token.ts'

/** The attacker's material in addition to the database. */
export type Loot = {
  encryptionKey?: string
  secretKey?: string
  token?: string
  passwords?: readonly string[]
}

type Row<Fields> = Fields & { sealed: Uint8Array }
type Secret = Row<{ workspaceId: string; projectId: string; environment: string; key: string }>
type User = Row<{
  id: string
  publicKey: Uint8Array
  signingKey: Uint8Array | null
  salt: string
  kdf: Kdf
}>
type Membership = Row<{ workspaceId: string; userId: string; epoch: number }>
type Grant = Row<{
  workspaceId: string
  tokenId: string
  projectId: string
  environment: string
  epoch: number
}>

/** Sealed data, without the outer layer if that opened. */
type Stored = { secrets: Secret[]; users: User[]; memberships: Membership[]; grants: Grant[] }

/** The names of what was opened, as `workspace/NAME`. */
export async function attack(sql: postgres.Sql, loot: Loot): Promise<string[]> {
  const outer = loot.encryptionKey === undefined ? null : OuterLayer.parse(loot.encryptionKey)
  const stored = await readStored(sql, outer)
  const everything = [...(await everyText(sql)), ...ofServer(loot), ...sealedIn(stored)]
  const candidates = everything.flatMap(windowsOf)
  const privateKeys = [
    ...tokenKeysOf(loot),
    ...(await privateKeysOf(stored.users, loot)),
    ...privateKeysAmong(candidates, stored.users),
  ]
  const keys = [...(await keysIn(stored, privateKeys)), ...candidates]
  return stored.secrets
    .filter((secret) => opens(secret, keys))
    .map(({ workspaceId, key }) => `${workspaceId}/${key}`)
}

/** With one of the keys as the environment's, or as the workspace's. */
function opens({ projectId, environment, key, sealed }: Secret, keys: readonly Uint8Array[]) {
  const place = { projectId, environment, key }
  return keys.some(
    (candidate) =>
      openSecretValue(candidate, place, null, sealed) ??
      openSecretValue(environmentKey(candidate, projectId, environment, 1), place, null, sealed),
  )
}

async function readStored(sql: postgres.Sql, outer: OuterLayer | null): Promise<Stored> {
  const secrets = await sql<Secret[]>`
    select workspace_id as "workspaceId", project_id as "projectId", environment, key, value as sealed
    from secrets order by key, workspace_id`
  const users = await sql<User[]>`
    select id, public_key as "publicKey", signing_key as "signingKey", key_salt as salt, kdf,
      encrypted_private_key as sealed
    from users`
  const memberships = await sql<Membership[]>`
    select m.workspace_id as "workspaceId", m.user_id as "userId", w.epoch,
      m.encrypted_workspace_key as sealed
    from memberships m join workspaces w on w.id = m.workspace_id`
  const grants = await sql<Grant[]>`
    select workspace_id as "workspaceId", token_id as "tokenId", project_id as "projectId",
      environment, epoch, envelope as sealed
    from token_envelopes`
  const open = (column: OuterColumn, salt: string, row: OuterPart[], sealed: Uint8Array) =>
    outer?.open(column, salt, row, sealed)
  return {
    secrets: await unsealed(secrets, (row) =>
      open('secrets.value', row.workspaceId, secretRow(row), row.sealed),
    ),
    users: await unsealed(users, ({ id, sealed }) =>
      open('users.encrypted_private_key', id, [{ uuid: id }], sealed),
    ),
    memberships: await unsealed(memberships, ({ workspaceId, userId, sealed }) => {
      const row = [{ uuid: workspaceId }, { uuid: userId }]
      return open('memberships.encrypted_workspace_key', workspaceId, row, sealed)
    }),
    grants: await unsealed(grants, ({ workspaceId, tokenId, projectId, environment, sealed }) => {
      const row = [{ uuid: tokenId }, { uuid: projectId }, { text: environment }]
      return open('token_envelopes.envelope', workspaceId, row, sealed)
    }),
  }
}

function unsealed<R extends { sealed: Uint8Array }>(
  rows: readonly R[],
  open: (row: R) => Promise<Uint8Array | null> | undefined,
): Promise<R[]> {
  return Promise.all(rows.map(async (row) => ({ ...row, sealed: (await open(row)) ?? row.sealed })))
}

/** Every row of every table as text, and the bytes that its texts encode. */
async function everyText(sql: postgres.Sql): Promise<Uint8Array[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ text: string }[]>(
      `select row_to_json(t)::text as text from "${name}" t`,
    )
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.flatMap((text) => [
    // PostgreSQL writes bytes as \x and hexadecimal.
    ...[...text.matchAll(/\\x((?:[0-9a-f]{2})+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex')),
    ...[...text.matchAll(/[\w+/-]{43,}/g)].map(([base64]) => Buffer.from(base64, 'base64')),
  ])
}

function ofServer({ encryptionKey = '', secretKey = '' }: Loot): Uint8Array[] {
  return [Buffer.from(encryptionKey, 'base64url'), utf8(encryptionKey), utf8(secretKey)]
}

function sealedIn({ secrets, users, memberships, grants }: Stored): Uint8Array[] {
  return [...secrets, ...users, ...memberships, ...grants].map(({ sealed }) => sealed)
}

/** Every 32 bytes in a row. */
function windowsOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.max(0, bytes.length - KEY_BYTES + 1)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at, at + KEY_BYTES))
}

function tokenKeysOf({ token = '' }: Loot): Uint8Array[] {
  const parsed = parseToken(token)
  return parsed ? [tokenKeyPair(parsed.id, parsed.secret).privateKey] : []
}

/** Private keys of users with one of these passwords. */
async function privateKeysOf(
  users: readonly User[],
  { passwords = [] }: Loot,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for (const { salt, kdf, sealed, publicKey, signingKey } of users) {
    const named = {
      public_key: toBase64(publicKey),
      signing_key: signingKey && toBase64(signingKey),
    }
    for (const password of passwords) {
      const masterKey = await deriveMasterKey(password, fromBase64(salt) ?? utf8(''), kdf)
      const keys = await unwrapKeys('account', userKey(masterKey), toBase64(sealed), named)
      if (keys) found.push(keys.privateKey)
    }
  }
  return found
}

/** Candidates that are the other half of a member's public key, or its seed. */
function privateKeysAmong(candidates: readonly Uint8Array[], users: readonly User[]): Uint8Array[] {
  const known = new Set(users.map(({ publicKey }) => publicKey.toHex()))
  const fromSeed = (seed: Uint8Array) =>
    hkdf(seed, new Uint8Array(0), 'cloakroom/v2/account-x25519')
  return candidates
    .flatMap((candidate) => [candidate, fromSeed(candidate)])
    .filter((privateKey) => known.has(x25519PublicKey(privateKey).toHex()))
}

async function keysIn(
  { users, memberships, grants }: Stored,
  privateKeys: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const publicKeys = new Map(users.map(({ id, publicKey }) => [id, publicKey]))
  const opened = privateKeys.flatMap((privateKey) => [
    ...grants.map((grant) => openTokenEnvelope(grant, privateKey, grant.sealed)),
    ...memberships.map(({ userId, sealed, ...place }) => {
      const recipientPublicKey = publicKeys.get(userId) ?? utf8('')
      return openMemberEnvelope({ ...place, recipientPublicKey }, privateKey, toBase64(sealed))
    }),
  ])
  return (await Promise.all(opened)).filter((key) => key !== null)
}
