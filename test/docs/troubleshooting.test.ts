// tier: quick
import { expect, test } from 'bun:test'
import { cliErrors } from '../../src/cli/terminal/cli_error.ts'
import { faultCodes } from '../../src/core/fault.ts'
import { textOf } from './documents.ts'

test('every code that somebody may meet has its cause and remedy, once, and no other has', () => {
  const rows = [
    ...textOf('docs/guides/troubleshooting.md').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm),
  ]
  const codes = new Set<string>([...faultCodes, ...Object.keys(cliErrors)])
  expect(rows.map(([, code]) => code).sort()).toEqual([...codes].sort())
})
