// tier: quick
/** The columns and outcomes of `audit list` and `audit tail`. */
import { expect, test } from 'bun:test'
import { auditColumns, outcomeOf } from '../../src/cli/audit.ts'
import { layOut } from '../../src/cli/terminal/table.ts'

const row = (length: number) => ({
  at: '2026-11-22T12:00:00.000Z',
  actor: 'a'.repeat(length),
  action: 'POST',
  target: `api.stripe.com/${'v'.repeat(length)}`,
  result: 'refused: host_not_allowed, 403',
  credential: 'STRIPE_KEY',
  place: `payments/${'p'.repeat(length)}`,
})

test('audit list keeps the credential at 80 columns, whatever the length of the other texts', () => {
  for (const length of [1, 10, 40, 100, 500]) {
    for (const now of [null, new Date('2026-11-22T13:00:00Z')]) {
      const screen = { width: 80, bold: (text: string) => text, now }
      const lines = layOut([row(length)], auditColumns, screen)
      expect([length, lines[0]]).toEqual([length, expect.stringContaining('CREDENTI')])
      expect(lines[1]).toContain('STRIPE_')
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80)
    }
  }
})

test('an outcome names the decision, the error code and the status of the upstream', () => {
  const outcomes = [
    [{ decision: 'allowed', reason: null, status_code: 201 }, 'allowed, 201'],
    [{ decision: 'allowed', reason: null, status_code: null }, 'allowed'],
    [
      { decision: 'blocked', reason: 'host_not_allowed', status_code: 403 },
      'refused: host_not_allowed, 403',
    ],
    [
      { decision: 'error', reason: 'upstream_timeout', status_code: 504 },
      'failed: upstream_timeout, 504',
    ],
    [{ decision: null, reason: null, status_code: 200 }, 200],
  ] as const
  for (const [record, outcome] of outcomes) expect(outcomeOf(record)).toBe(outcome)
})
