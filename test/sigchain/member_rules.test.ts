// tier: quick
import { describe, expect, test } from 'bun:test'
import { type Role, roles } from '../../src/core/grant.ts'
import { type MemberChange, mayChangeMember } from '../../src/sigchain/member_rules.ts'

/** The roles that may make each change; all others may not. */
const table: [what: string, change: MemberChange, who: Role[]][] = [
  ['invite an owner', { kind: 'invite', role: 'owner', pending: null }, ['owner']],
  ['invite an admin', { kind: 'invite', role: 'admin', pending: null }, ['owner', 'admin']],
  ['invite a member', { kind: 'invite', role: 'member', pending: null }, ['owner', 'admin']],
  ['invite a reader', { kind: 'invite', role: 'read_only', pending: null }, ['owner', 'admin']],
  [
    'invite a pending reader again as an admin',
    { kind: 'invite', role: 'admin', pending: 'read_only' },
    ['owner', 'admin'],
  ],
  [
    'invite a pending admin again as one',
    { kind: 'invite', role: 'admin', pending: 'admin' },
    ['owner', 'admin'],
  ],
  [
    'invite a pending admin again as a member',
    { kind: 'invite', role: 'member', pending: 'admin' },
    ['owner'],
  ],
  [
    'invite a pending owner again as a member',
    { kind: 'invite', role: 'member', pending: 'owner' },
    ['owner'],
  ],
  ['transfer ownership', { kind: 'set_role', from: 'member', to: 'owner' }, ['owner']],
  ['demote an owner', { kind: 'set_role', from: 'owner', to: 'member' }, ['owner']],
  ['make an owner an admin', { kind: 'set_role', from: 'owner', to: 'admin' }, ['owner']],
  ['demote an admin', { kind: 'set_role', from: 'admin', to: 'member' }, ['owner']],
  ['leave an admin an admin', { kind: 'set_role', from: 'admin', to: 'admin' }, ['owner', 'admin']],
  [
    'promote a member to admin',
    { kind: 'set_role', from: 'member', to: 'admin' },
    ['owner', 'admin'],
  ],
  [
    'restrict a member to reading',
    { kind: 'set_role', from: 'member', to: 'read_only' },
    ['owner', 'admin'],
  ],
  ['remove an owner', { kind: 'remove', from: 'owner', self: false }, ['owner']],
  ['remove an admin', { kind: 'remove', from: 'admin', self: false }, ['owner']],
  ['remove a member', { kind: 'remove', from: 'member', self: false }, ['owner', 'admin']],
  ['remove a reader', { kind: 'remove', from: 'read_only', self: false }, ['owner', 'admin']],
]

describe('membership changes by role', () => {
  test.each(table)('%s', (_, change, who) => {
    expect(roles.filter((role) => mayChangeMember(role, change))).toEqual(who)
  })

  test.each([...roles])('members leave, as %s', (role) => {
    expect(mayChangeMember(role, { kind: 'remove', from: role, self: true })).toBe(true)
  })
})
