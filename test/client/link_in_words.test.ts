// tier: quick
/** Links in words for people, one of each type. */
import { expect, test } from 'bun:test'
import { linksInWords } from '../../src/client/signed/link_in_words.ts'
import type { Link } from '../../src/sigchain/index.ts'

const HERE = '01920000-0000-8000-8000-000000000100'
const TOKENS = ['01920000-0000-8000-8000-000000000401', '01920000-0000-8000-8000-000000000402']
const keys = { signing_key: 's', public_key: 'p' }
const somebody = (name: string) => ({
  user_id: `id-of-${name}`,
  email: `${name}@a.example`,
  ...keys,
})
const as = (name: string, role: 'owner' | 'admin' | 'member' | 'read_only') => ({
  ...somebody(name),
  role,
})
const key_commitment = 'c'

type Said = Link extends infer Each
  ? Each extends Link
    ? Pick<Each, 'type' | 'body'>
    : never
  : never

/** The signer, the link, and its description. */
const table: [string, Said, string][] = [
  [
    'ada',
    { type: 'workspace.created', body: { founder: somebody('ada'), epoch: 1, key_commitment } },
    'created the workspace',
  ],
  [
    'ada',
    { type: 'members.put', body: { members: [as('bob', 'admin'), as('cyd', 'read_only')] } },
    'invited bob@a.example as an admin; invited cyd@a.example as a read-only member',
  ],
  [
    'ada',
    { type: 'members.put', body: { members: [as('cyd', 'member'), as('dan', 'member')] } },
    'made cyd@a.example a member; invited dan@a.example as a member',
  ],
  ['bob', { type: 'keys.rotated', body: { signing_key: 't', public_key: 'q' } }, 'took new keys'],
  [
    'bob',
    { type: 'allowlist.changed', body: { add: ['a.example', 'b.example'], remove: [] } },
    'allowed a.example, b.example',
  ],
  [
    'bob',
    { type: 'allowlist.changed', body: { add: ['c.example'], remove: ['a.example'] } },
    'allowed c.example; disallowed a.example',
  ],
  [
    'bob',
    { type: 'tokens.revoked', body: { token_ids: TOKENS } },
    `revoked 2 tokens: ${TOKENS.join(', ')}`,
  ],
  ['dan', { type: 'members.removed', body: { user_ids: ['id-of-dan'] } }, 'left'],
  [
    'ada',
    { type: 'epoch.advanced', body: { epoch: 2, key_commitment } },
    'sealed everything under a new key (epoch 2)',
  ],
  [
    'ada',
    { type: 'members.removed', body: { user_ids: ['id-of-bob', 'id-of-cyd'] } },
    'removed bob@a.example, cyd@a.example',
  ],
  [
    'ada',
    { type: 'members.put', body: { members: [as('bob', 'owner')] } },
    'invited bob@a.example as an owner',
  ],
  [
    'bob',
    { type: 'members.removed', body: { user_ids: ['id-of-ada', 'id-of-bob'] } },
    'left; removed ada@a.example',
  ],
  ['ada', { type: 'workspace.deleted', body: {} }, 'deleted the workspace'],
]

test("each type of link is described in words, with the members' addresses at that time", () => {
  const links = table.map(([name, said], at) => {
    const where = { v: 2, workspace_id: HERE, seq: at + 1, prev: null, at: `time ${at}` }
    return { ...where, signer: `id-of-${name}`, ...said } as Link
  })
  expect(linksInWords(links)).toEqual(
    table.map(([name, , what], at) => ({
      ...{ seq: at + 1, at: `time ${at}`, by: `${name}@a.example`, what },
    })),
  )
})
