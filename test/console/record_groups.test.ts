// tier: quick
/** Records of one change are one line of the audit. */
import { expect, test } from 'bun:test'
import { groupRecords, type ListedRecord } from '../../src/console/web/screens/audit/groups.ts'

const START = Date.UTC(2026, 10, 25, 10)

function recordAt(seconds: number, fields: Partial<ListedRecord> = {}): ListedRecord {
  return {
    id: `record-${seconds}-${Math.random()}`,
    timestamp: new Date(START - seconds * 1_000).toISOString(),
    source: 'control_plane',
    agent_id: 'ada@example.com',
    user_id: 'ada',
    project_id: 'payments',
    environment: 'production',
    action: 'secret.created',
    decision: 'allowed',
    ...fields,
  } as ListedRecord
}

const sizesOf = (records: readonly ListedRecord[]) =>
  groupRecords(records).map((group) => group.records.length)

test('an import of 59 secrets, some of them new, is one group in either order', () => {
  const imported = Array.from({ length: 59 }, (_, at) =>
    recordAt(at / 20, { action: at % 3 === 0 ? 'secret.updated' : 'secret.created' }),
  )
  expect(sizesOf(imported)).toEqual([59])
  expect(sizesOf(imported.toReversed())).toEqual([59])
  expect(groupRecords(imported)[0]?.id).toBe(imported[0]?.id as string)
})

test.each([
  ['another person', { user_id: 'grace', agent_id: 'grace@example.com' }],
  ['another environment', { environment: 'staging' }],
  ['another action', { action: 'secret.deleted' }],
  ['a change that was refused', { decision: 'blocked' as const }],
])('%s begins a new group', (_, fields) => {
  expect(sizesOf([recordAt(0), recordAt(1, fields), recordAt(2)])).toEqual([1, 1, 1])
})

test('changes that are more than five seconds apart are two groups', () => {
  expect(sizesOf([recordAt(0), recordAt(5), recordAt(10), recordAt(16)])).toEqual([3, 1])
})

test('calls are never grouped', () => {
  const call = { source: 'resolver' as const, action: null, agent_id: 'deploy-bot' }
  expect(sizesOf([recordAt(0, call), recordAt(0, call), recordAt(0, call)])).toEqual([1, 1, 1])
})

test('there are no groups without records', () => {
  expect(groupRecords([])).toEqual([])
})
