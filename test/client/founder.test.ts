// tier: quick
/** The founder of a workspace by its first link, which no server can choose. */
import { expect, test } from 'bun:test'
import { isFounder } from '../../src/client/signed/founder.ts'
import { uuidv7, uuidv8 } from '../../src/core/crypto/encoding.ts'
import type { Link } from '../../src/sigchain/index.ts'

const [ada, eve] = [uuidv7(), uuidv7()]
const person = (user_id: string, signing_key: string) => ({
  ...{ user_id, email: `${user_id}@example.com`, signing_key, public_key: `${signing_key} x` },
})
const said = { v: 2, workspace_id: uuidv8(), prev: null, at: new Date(0).toISOString() } as const

/** Links as a replay has accepted them; unused fields are omitted. */
function links(...changes: readonly object[]): Link[] {
  return changes.map((change, at) => ({ ...said, seq: at + 1, ...change }) as Link)
}

const founded = (by: string, key: string) =>
  ({
    type: 'workspace.created',
    signer: by,
    body: { founder: person(by, key), epoch: 1, key_commitment: '' },
  }) as const
const rotated = (by: string, signing_key: string) =>
  ({ type: 'keys.rotated', signer: by, body: { signing_key, public_key: 'y' } }) as const
const put = (by: string, who: string, key: string) =>
  ({
    type: 'members.put',
    signer: by,
    body: { members: [{ ...person(who, key), role: 'owner' as const }] },
  }) as const
const removed = (by: string, who: string) =>
  ({ type: 'members.removed', signer: by, body: { user_ids: [who] } }) as const

test.each([
  ['with the key of the first link', [founded(ada, 'k1')], true],
  ['after keys were rotated', [founded(ada, 'k0'), rotated(ada, 'k1')], true],
  [
    'beside others who rotate theirs',
    [founded(ada, 'k1'), put(ada, eve, 'e'), rotated(eve, 'f')],
    true,
  ],
  ['of somebody else, as a member', [founded(eve, 'e'), put(eve, ada, 'k1')], false],
  [
    'of somebody else, with a key rotated to',
    [founded(eve, 'e'), put(eve, ada, 'k0'), rotated(ada, 'k1')],
    false,
  ],
  [
    'that somebody else founded under the same id, who left',
    [founded(ada, 'e'), put(ada, eve, 'f'), removed(ada, ada), put(eve, ada, 'k1')],
    false,
  ],
])('the founder of a workspace %s', (_, changes, expected) => {
  expect(isFounder(links(...changes), 'k1')).toBe(expected)
})

test('a workspace without links has no founder', () => {
  expect(isFounder([], 'k1')).toBe(false)
})
