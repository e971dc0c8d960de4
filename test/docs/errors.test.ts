// tier: quick
import { expect, test } from 'bun:test'
import { cliErrors } from '../../src/cli/terminal/cli_error.ts'
import { faultCodes } from '../../src/core/fault.ts'
import { textOf } from './documents.ts'

test('every error code has one row with its cause and fix, and no other code has one', () => {
  const rows = [...textOf('docs/reference/errors.md').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)]
  const codes = new Set<string>([...faultCodes, ...Object.keys(cliErrors)])
  expect(rows.map(([, code]) => code).sort()).toEqual([...codes].sort())
})
