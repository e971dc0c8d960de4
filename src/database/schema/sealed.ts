/**
 * Every column under the outer layer, and the columns of its row that its blob is bound to (protocol 3.4). A test fills
 * all tables and finds each column that has such blobs.
 */
import type { OuterColumn } from '../../core/crypto/outer_layer.ts'

type KeyType = 'uuid' | 'integer' | 'text'
/** One part of the identity that a blob is bound to, as SQL over the row `t`. */
type BoundTo = readonly [kind: 'uuid' | 'text' | 'u32', sql: string]

export type SealedColumn = {
  table: string
  column: string
  /** The constant of the protocol for it. */
  as: OuterColumn
  primaryKey: readonly (readonly [name: string, type: KeyType])[]
  /** The workspace or the person, as SQL over `t`. */
  salt: string
  row: readonly BoundTo[]
  /** A join that `salt` and `row` need. */
  join?: string
}

const ID = [['id', 'uuid']] as const
const VERSION = [
  ['secret_id', 'uuid'],
  ['version', 'integer'],
] as const
const secretRow = (of: 't' | 's'): BoundTo[] => [
  ['uuid', `${of}.project_id`],
  ['text', `${of}.environment`],
  ['text', `${of}.key`],
]
const versionRow: readonly BoundTo[] = [...secretRow('s'), ['u32', 't.version']]

export const SEALED: readonly SealedColumn[] = [
  {
    table: 'users',
    column: 'encrypted_private_key',
    as: 'users.encrypted_private_key',
    primaryKey: ID,
    salt: 't.id',
    row: [['uuid', 't.id']],
  },
  {
    table: 'users',
    column: 'recovery_private_key',
    as: 'users.recovery_private_key',
    primaryKey: ID,
    salt: 't.id',
    row: [['uuid', 't.id']],
  },
  {
    table: 'passkeys',
    column: 'encrypted_seed',
    as: 'passkeys.encrypted_seed',
    primaryKey: ID,
    salt: 't.user_id',
    row: [
      ['uuid', 't.user_id'],
      ['uuid', 't.id'],
    ],
  },
  {
    table: 'memberships',
    column: 'encrypted_workspace_key',
    as: 'memberships.encrypted_workspace_key',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: [
      ['uuid', 't.workspace_id'],
      ['uuid', 't.user_id'],
    ],
  },
  {
    table: 'token_envelopes',
    column: 'envelope',
    as: 'token_envelopes.envelope',
    primaryKey: [
      ['token_id', 'uuid'],
      ['project_id', 'uuid'],
      ['environment', 'text'],
    ],
    salt: 't.workspace_id',
    row: [
      ['uuid', 't.token_id'],
      ['uuid', 't.project_id'],
      ['text', 't.environment'],
    ],
  },
  {
    table: 'secrets',
    column: 'value',
    as: 'secrets.value',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: secretRow('t'),
  },
  {
    table: 'secret_versions',
    column: 'value',
    as: 'secret_versions.value',
    primaryKey: VERSION,
    salt: 's.workspace_id',
    row: versionRow,
    join: 'join secrets s on s.id = t.secret_id',
  },
  {
    table: 'derived_states',
    column: 'state',
    as: 'derived.state',
    primaryKey: [
      ['workspace_id', 'uuid'],
      ['project_id', 'uuid'],
      ['environment', 'text'],
      ['key', 'text'],
    ],
    salt: 't.workspace_id',
    row: secretRow('t'),
  },
  {
    table: 'approvals',
    column: 'details',
    as: 'approvals.details',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: [['uuid', 't.id']],
  },
  {
    table: 'approvals',
    column: 'envelopes',
    as: 'approvals.envelopes',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: [['uuid', 't.id']],
  },
  {
    table: 'notice_targets',
    column: 'secret',
    as: 'notice_targets.secret',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: [['uuid', 't.id']],
  },
  {
    table: 'deleted_secrets',
    column: 'value',
    as: 'secrets.value',
    primaryKey: ID,
    salt: 't.workspace_id',
    row: secretRow('t'),
  },
  {
    table: 'deleted_secret_versions',
    column: 'value',
    as: 'secret_versions.value',
    primaryKey: VERSION,
    salt: 's.workspace_id',
    row: versionRow,
    join: 'join deleted_secrets s on s.id = t.secret_id',
  },
]

/** Under the outer layer too, bound to nothing: whether the key opens the data. */
export const KEY_CHECK = { table: 'instance', column: 'key_check' } as const

/** The id of the key that a blob is under, 8 hex digits: it is behind a byte of version. */
export function selectOuterKeyId(column: string): string {
  return `encode(substring(${column} from 2 for 4), 'hex')`
}
